#include "stoker/storage/s3/aws_profiles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

constexpr std::string_view kConfig =
    "# where we work\n"
    "[default]\n"
    "region = eu-west-1   # Dublin\n"
    "s3 =\n"
    "    addressing_style = path\n"
    "  max_concurrent_requests=20\n"
    "output = json\n"
    "\n"
    "[profile lab]\r\n"
    "region=us-east-2\r\n"
    "services = local\n"
    "; not this one\n"
    "[services local]\n"
    "s3 =\n"
    "  endpoint_url = http://127.0.0.1:8333\n";

TEST(ParseAwsFile, ReadsSectionsSettingsAndNestedSettings) {
  const AwsSections sections = parse_aws_file(kConfig, "config");
  EXPECT_EQ(sections.at("default").at("region"), "eu-west-1");
  EXPECT_EQ(sections.at("default").at("s3.addressing_style"), "path");
  EXPECT_EQ(sections.at("default").at("s3.max_concurrent_requests"), "20");
  EXPECT_EQ(sections.at("default").at("output"), "json");
  EXPECT_EQ(sections.at("profile lab").at("region"), "us-east-2");
  EXPECT_EQ(sections.at("services local").at("s3.endpoint_url"), "http://127.0.0.1:8333");
}

TEST(ParseAwsFile, KeepsWhatLooksLikeACommentInsideAValue) {
  EXPECT_EQ(parse_aws_file("[a]\naws_secret_access_key = a#b;c=d/e\n", "f").at("a").at("aws_secret_access_key"),
            "a#b;c=d/e");
}

TEST(ParseAwsFile, SaysWhichLineIsWrong) {
  EXPECT_EQ(error_of([] { parse_aws_file("[a]\nx = 1\nnonsense\n", "f"); }).message(),
            "cannot read 'f': line 3: a line is \"name = value\" or \"[section]\"");
  EXPECT_EQ(error_of([] { parse_aws_file("x = 1\n", "f"); }).message(),
            "cannot read 'f': line 1: a setting stands before the first \"[section]\"");
  EXPECT_EQ(error_of([] { parse_aws_file("[a\n", "f"); }).message(),
            "cannot read 'f': line 1: a section's name ends with \"]\"");
}

TEST(ParseAwsFile, TakesIndentedSettingsForNestedWhereTheyAreIndentedFurtherThanOneWithoutAValue) {
  EXPECT_EQ(parse_aws_file("[default]\n  aws_access_key_id = A\n  aws_secret_access_key = S\n", "f").at("default"),
            (AwsSettings{{"aws_access_key_id", "A"}, {"aws_secret_access_key", "S"}}));
  EXPECT_EQ(parse_aws_file("[a]\nx = 1\n  y = 2\n", "f").at("a"), (AwsSettings{{"x", "1"}, {"y", "2"}}));
  EXPECT_EQ(parse_aws_file("[a]\n  s3 =\n    style = path\n  region = r\n", "f").at("a"),
            (AwsSettings{{"s3", ""}, {"s3.style", "path"}, {"region", "r"}}));
}

/// An environment of these variables alone.
Environment environment_of(std::map<std::string, std::string, std::less<>> variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(AwsProfile, IsReadFromTheFilesThatTheEnvironmentNames) {
  const TempFolder folder;
  folder.write("config", kConfig);
  folder.write("keys", "[lab]\naws_access_key_id = ID\nregion = elsewhere\n[default]\naws_access_key_id = OTHER\n");
  const std::string config = folder.path("config"), keys = folder.path("keys");

  const AwsProfile usual =
      AwsProfile::load(environment_of({{"AWS_CONFIG_FILE", config}, {"AWS_SHARED_CREDENTIALS_FILE", keys}}));
  EXPECT_EQ(usual.get("aws_access_key_id"), "OTHER");
  EXPECT_EQ(usual.get_for("s3", "addressing_style"), "path");
  EXPECT_EQ(usual.get("nothing"), std::nullopt);

  const AwsProfile lab = AwsProfile::load(
      environment_of({{"AWS_CONFIG_FILE", config}, {"AWS_SHARED_CREDENTIALS_FILE", keys}, {"AWS_PROFILE", "lab"}}));
  EXPECT_EQ(lab.get("aws_access_key_id"), "ID");
  EXPECT_EQ(lab.get("region"), "elsewhere");
  EXPECT_EQ(lab.get_for("s3", "endpoint_url"), "http://127.0.0.1:8333");
  EXPECT_EQ(lab.with_name("default").get("region"), "eu-west-1");
}

TEST(AwsProfile, IsEmptyWithoutFiles) {
  const TempFolder folder;
  const AwsProfile profile = AwsProfile::load(environment_of({{"HOME", folder.path()}}));
  EXPECT_FALSE(profile.exists());
  EXPECT_EQ(profile.get("region"), std::nullopt);
}

TEST(AwsProfile, MustExistWhenItIsNamed) {
  const TempFolder folder;
  for (const std::string variable : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
    const Error error = error_of([&] {
      AwsProfile::load(environment_of({{"HOME", "/h"}, {"AWS_CONFIG_FILE", folder.path("c")}, {variable, "gone"}}));
    });
    EXPECT_EQ(error.message(), fmt::format("{} is 'gone', but neither '{}' nor '/h/.aws/credentials' has that profile",
                                           variable, folder.path("c")));
  }
}

TEST(ParseAwsFile, TakesNamesAndSignsAsPythonsToolsDo) {
  const AwsSections sections = parse_aws_file("[default]\nAWS_Access_Key_Id: ID\nrole_arn = arn:aws:r\n", "file");
  EXPECT_EQ(sections.at("default"), (AwsSettings{{"aws_access_key_id", "ID"}, {"role_arn", "arn:aws:r"}}));
}

}  // namespace
}  // namespace stoker
