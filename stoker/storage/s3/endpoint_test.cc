#include "stoker/storage/s3/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

Environment variables(std::map<std::string, std::string, std::less<>> set) {
  return [set](std::string_view name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  };
}

const AwsProfile kEmpty("default", {}, {});

AwsProfile profile_of(AwsSettings settings) { return AwsProfile("default", {{"default", std::move(settings)}}, {}); }

TEST(S3Endpoint, IsThatOfTheRegion) {
  const S3Endpoint usual = s3_endpoint(variables({}), kEmpty, "data");
  EXPECT_EQ(usual.url_of("data", "a b/c+d.tar"), "https://data.s3.us-east-1.amazonaws.com/a%20b/c%2Bd.tar");
  EXPECT_EQ(usual.host("data"), "data.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(usual.path("data", "a b"), "/a b");
  EXPECT_EQ(s3_endpoint(variables({{"AWS_REGION", "eu-west-1"}}), kEmpty, "data").url_of("data", ""),
            "https://data.s3.eu-west-1.amazonaws.com/");
  EXPECT_EQ(s3_endpoint(variables({{"AWS_REGION", ""}}), profile_of({{"region", "us-west-2"}}), "data").region,
            "us-west-2");
  EXPECT_EQ(s3_endpoint(variables({{"AWS_DEFAULT_REGION", "ap-south-1"}}), profile_of({{"region", "x"}}), "d").region,
            "ap-south-1");
}

TEST(S3Endpoint, IsApartInChina) {
  EXPECT_EQ(s3_endpoint(variables({{"AWS_REGION", "cn-north-1"}}), kEmpty, "data").url_of("data", ""),
            "https://data.s3.cn-north-1.amazonaws.com.cn/");
}

TEST(S3Endpoint, RefusesARegionThatNoHostCanHave) {
  for (const char* const region : {"= eu-west-1", "a/b", "eu west", "x\n", "a@b"}) {
    const Error error = error_of([&] { s3_endpoint(variables({{"AWS_REGION", region}}), kEmpty, "data"); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << region;
    EXPECT_THAT(error.message(), ::testing::HasSubstr("a region is named like us-east-1")) << region;
    EXPECT_EQ(error_of([&] {
                s3_endpoint(variables({}), profile_of({{"region", region}}), "data");
              }).kind(),
              ErrorKind::kUsage);
  }
}

TEST(S3Endpoint, PutsNamesThatNoCertificateFitsIntoThePath) {
  EXPECT_EQ(s3_endpoint(variables({}), kEmpty, "my.data").url_of("my.data", "a"),
            "https://s3.us-east-1.amazonaws.com/my.data/a");
}

TEST(S3Endpoint, TakesACustomOneByPath) {
  const auto environment = variables({{"AWS_ENDPOINT_URL", "http://127.0.0.1:8333/"}});
  const S3Endpoint endpoint = s3_endpoint(environment, kEmpty, "data");
  EXPECT_EQ(endpoint.url_of("data", "a"), "http://127.0.0.1:8333/data/a");
  EXPECT_EQ(endpoint.url_of("data", ""), "http://127.0.0.1:8333/data");
  EXPECT_EQ(endpoint.host("data"), "127.0.0.1:8333");
  EXPECT_EQ(s3_endpoint(environment, profile_of({{"s3.addressing_style", "virtual"}}), "data").url_of("data", "a"),
            "http://data.127.0.0.1:8333/a");
}

TEST(S3Endpoint, PrefersTheSettingThatIsMoreSpecial) {
  AwsSections config{{"default", {{"endpoint_url", "http://d"}, {"services", "local"}}},
                     {"services local", {{"s3.endpoint_url", "http://c"}}}};
  const AwsProfile profile("default", config, {});
  const auto url = [&](std::map<std::string, std::string, std::less<>> set) {
    return s3_endpoint(variables(set), profile, "data").url;
  };
  EXPECT_EQ(url({{"AWS_ENDPOINT_URL_S3", "http://a"}, {"AWS_ENDPOINT_URL", "http://b"}}), "http://a");
  EXPECT_EQ(url({{"AWS_ENDPOINT_URL", "http://b"}}), "http://b");
  EXPECT_EQ(url({}), "http://c");
  EXPECT_EQ(url({{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}, {"AWS_ENDPOINT_URL", "http://b"}}),
            "https://s3.us-east-1.amazonaws.com");
}

TEST(S3Endpoint, TakesAddressesAndPorts) {
  for (const std::string url : {"http://[::1]", "http://[::1]:9000", "https://a:65535", "http://a"}) {
    EXPECT_EQ(checked_endpoint(url, "it"), url);
  }
}

TEST(S3Endpoint, DropsTheSchemesOwnPortWhichClientsDoNotSend) {
  EXPECT_EQ(checked_endpoint("https://a:443", "it"), "https://a");
  EXPECT_EQ(checked_endpoint("http://[::1]:80/", "it"), "http://[::1]");
  for (const std::string url : {"http://a:443", "https://a:80", "https://a:8443", "http://a:8080"}) {
    EXPECT_EQ(checked_endpoint(url, "it"), url);
  }
}

TEST(S3Endpoint, RefusesWhatIsNotTheUrlOfAHost) {
  for (const char* url : {"localhost:9000", "ftp://a", "http://", "http://a/path", "http://user:secret@a", "http://a b",
                          "http://a:99999", "http://a:", "http://a:0", "http://[::1]:x"}) {
    const Error error = error_of([&] { s3_endpoint(variables({{"AWS_ENDPOINT_URL", url}}), kEmpty, "data"); });
    EXPECT_EQ(error.message(),
              "AWS_ENDPOINT_URL must be a URL such as \"https://host:port\", without a path or a password");
  }
  EXPECT_EQ(error_of([] {
              s3_endpoint(variables({}), profile_of({{"s3.addressing_style", "odd"}}), "d");
            }).message(),
            "the profile 'default' has the addressing_style 'odd'; use auto, path or virtual");
}

TEST(GsEndpoint, IsGooglesOrAnEmulators) {
  EXPECT_EQ(gs_endpoint(variables({})).url_of("data", "a b"), "https://storage.googleapis.com/data/a%20b");
  EXPECT_EQ(gs_endpoint(variables({{"STORAGE_EMULATOR_HOST", "localhost:4443"}})).url_of("data", "a"),
            "http://localhost:4443/data/a");
}

TEST(IsAnonymous, IsAskedForByName) {
  EXPECT_FALSE(is_anonymous(variables({})));
  EXPECT_TRUE(is_anonymous(variables({{"AWS_NO_SIGN_REQUEST", "true"}})));
  EXPECT_FALSE(is_anonymous(variables({{"AWS_SKIP_SIGNATURE", "false"}})));
}

}  // namespace
}  // namespace stoker
