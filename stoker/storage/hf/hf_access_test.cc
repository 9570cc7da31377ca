#include "stoker/storage/hf/hf_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HfAccess access_by(const std::map<std::string, std::string>& variables, bool anonymous = false) {
  const auto environment = [&](std::string_view name) {
    const auto found = variables.find(std::string(name));
    const bool is_set = found != variables.end() && !found->second.empty();
    return is_set ? std::optional(found->second) : std::nullopt;
  };
  return HfAccess::from(environment, anonymous);
}

TEST(HfAccess, IsAnonymousAtTheHubByDefault) {
  const HfAccess access = access_by({});
  EXPECT_EQ(access.endpoint, "https://huggingface.co");
  EXPECT_EQ(access.token, "");
  EXPECT_FALSE(access.offline);
}

TEST(HfAccess, TakesTheEndpointAndTheSwitchFromTheirVariables) {
  EXPECT_EQ(access_by({{"HF_ENDPOINT", "https://mirror.example/hub//"}}).endpoint, "https://mirror.example/hub");
  EXPECT_EQ(error_of([] { access_by({{"HF_ENDPOINT", "mirror.example"}}); }).kind(), ErrorKind::kUsage);
  for (const char* on : {"1", "true", "Yes", "ON"}) EXPECT_TRUE(access_by({{"HF_HUB_OFFLINE", on}}).offline) << on;
  for (const char* off : {"", "0", "no", "2"}) EXPECT_FALSE(access_by({{"HF_HUB_OFFLINE", off}}).offline) << off;
}

TEST(HfAccess, LooksForTheTokenWhereTheHubsOwnClientDoes) {
  const TempFolder home;
  home.write("caches/huggingface/token", "by-caches");
  home.write("hf/token", "by-home\n");
  home.write("elsewhere", "\r\n by-path \n");
  home.write(".cache/huggingface/token", "by-default");
  home.write("empty", "");
  std::map<std::string, std::string> variables{{"HOME", home.path()}};
  EXPECT_EQ(access_by(variables).token, "by-default");
  variables["XDG_CACHE_HOME"] = home.path("caches");
  EXPECT_EQ(access_by(variables).token, "by-caches");
  variables["HF_HOME"] = "~/hf";
  EXPECT_EQ(access_by(variables).token, "by-home");
  variables["HF_TOKEN_PATH"] = home.path("elsewhere");
  EXPECT_EQ(access_by(variables).token, "by-path");
  variables["HUGGING_FACE_HUB_TOKEN"] = "by-old-variable";
  EXPECT_EQ(access_by(variables).token, "by-old-variable");
  variables["HF_TOKEN"] = " by-variable\n";
  EXPECT_EQ(access_by(variables).token, "by-variable");
  variables["HF_TOKEN"] = " ";
  EXPECT_EQ(access_by(variables).token, "by-path");
  variables["HF_TOKEN_PATH"] = home.path("none");
  EXPECT_EQ(access_by(variables).token, "");
  variables["HF_TOKEN_PATH"] = home.path("empty");
  EXPECT_EQ(access_by(variables).token, "");
  variables["HF_TOKEN"] = "by-variable";
  EXPECT_EQ(access_by(variables, true).token, "");
  variables["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "1";
  EXPECT_EQ(access_by(variables).token, "");
}

TEST(HfAccess, RefusesWhatCannotBeAToken) {
  const TempFolder home;
  home.write("large", std::string(5000, 'x'));
  const Error split = error_of([] { access_by({{"HF_TOKEN", "hf_s3cr3t\nX-Other: field"}}); });
  EXPECT_EQ(split.kind(), ErrorKind::kUsage);
  EXPECT_THAT(split.message(), Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(error_of([&] { access_by({{"HF_TOKEN_PATH", home.path("large")}}); }).message(), HasSubstr("large"));
  EXPECT_THAT(error_of([&] { access_by({{"HF_TOKEN_PATH", home.path()}}); }).message(), HasSubstr("cannot log in"));
}

}  // namespace
}  // namespace stoker
