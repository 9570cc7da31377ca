#include "stoker/storage/s3/credentials.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;

constexpr WallTime kNow = sys_days(std::chrono::year(2026) / 11 / 25);

/// A world whose services answer from a table: "METHOD URL" to a reply. What is not in it does not answer.
struct FakeWorld {
  std::map<std::string, std::string, std::less<>> variables;
  AwsSections config, keys;
  std::map<std::string, SmallReply> replies;
  std::vector<SmallRequest> requests;
  WallTime now = kNow;

  CredentialWorld world() {
    return {[this](std::string_view name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              return found == variables.end() ? std::nullopt : std::optional(found->second);
            },
            [this](const SmallRequest& request) {
              requests.push_back(request);
              const auto reply = replies.find(request.method + " " + request.url);
              if (reply == replies.end()) fail(ErrorKind::kIo, "no answer from {}", request.url);
              return reply->second;
            },
            [this] { return now; }};
  }
  std::optional<FoundCredentials> find(const std::string& profile = "default") {
    return find_credentials(world(), AwsProfile(profile, config, keys));
  }
};

std::string expires_at(WallTime time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

SmallReply keys_in_json(const std::string& id, WallTime expires) {
  return {200, fmt::format(R"({{"Code": "Success", "AccessKeyId": "{}", "SecretAccessKey": "s", "Token": "t",
                                "Expiration": "{}"}})",
                           id, expires_at(expires))};
}

SmallReply keys_in_xml(const std::string& id, WallTime expires) {
  return {200, fmt::format("<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult>"
                           "<Credentials><AccessKeyId>{}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
                           "<SessionToken>t</SessionToken><Expiration>{}</Expiration></Credentials>"
                           "</AssumeRoleResult></AssumeRoleResponse>",
                           id, expires_at(expires))};
}

TEST(FindCredentials, PrefersTheEnvironment) {
  FakeWorld fake;
  fake.variables = {{"AWS_ACCESS_KEY_ID", "ID"}, {"AWS_SECRET_ACCESS_KEY", "S"}, {"AWS_SESSION_TOKEN", "T"}};
  fake.keys = {{"default", {{"aws_access_key_id", "OTHER"}, {"aws_secret_access_key", "s"}}}};
  const auto found = fake.find();
  EXPECT_EQ(found->credentials.key, (AccessKey{"ID", "S", "T"}));
  EXPECT_EQ(found->credentials.expires, std::nullopt);
  EXPECT_EQ(found->origin, "the environment (AWS_ACCESS_KEY_ID)");
  EXPECT_TRUE(fake.requests.empty());
}

TEST(FindCredentials, WantsBothVariables) {
  FakeWorld fake;
  fake.variables = {{"AWS_ACCESS_KEY_ID", "ID"}};
  EXPECT_EQ(error_of([&] { fake.find(); }).message(), "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
}

TEST(FindCredentials, ReadsTheProfile) {
  FakeWorld fake;
  fake.keys = {{"lab", {{"aws_access_key_id", "LAB"}, {"aws_secret_access_key", "s"}}}};
  EXPECT_EQ(fake.find("lab")->credentials.key, (AccessKey{"LAB", "s", ""}));
  EXPECT_EQ(fake.find("lab")->origin, "the profile 'lab'");
}

TEST(FindCredentials, SaysHowToExportKeysThatOnlyAwsCanFetch) {
  FakeWorld fake;
  fake.config = {{"default", {{"sso_session", "us"}}}};
  EXPECT_EQ(error_of([&] { fake.find(); }).message(),
            "the profile 'default' gets its keys by sso_session, which Stoker does not do: export them with "
            "`aws configure export-credentials --profile default --format env`");
}

TEST(FindCredentials, TakesARoleByWebIdentity) {
  const TempFolder folder;
  FakeWorld fake;
  fake.variables = {{"AWS_WEB_IDENTITY_TOKEN_FILE", folder.write("token", "the/token\n")},
                    {"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                    {"AWS_REGION", "eu-west-1"}};
  fake.replies["POST https://sts.eu-west-1.amazonaws.com/"] = keys_in_xml("ROLE", kNow + minutes(60));
  const auto found = fake.find();
  EXPECT_EQ(found->credentials.key, (AccessKey{"ROLE", "s", "t"}));
  EXPECT_EQ(found->credentials.expires, kNow + minutes(60));
  const SmallRequest& request = fake.requests.at(0);
  EXPECT_NE(request.body.find("Action=AssumeRoleWithWebIdentity&"), std::string::npos);
  EXPECT_NE(request.body.find("WebIdentityToken=the%2Ftoken"), std::string::npos);
  EXPECT_EQ(request.headers.size(), 1u) << "such a request is not signed";
}

TEST(FindCredentials, TakesTheRoleOfAProfileWithTheKeysOfAnother) {
  FakeWorld fake;
  fake.config = {{"profile work", {{"role_arn", "arn:r"}, {"source_profile", "base"}, {"external_id", "x y"}}},
                 {"profile base", {{"role_arn", "arn:b"}, {"source_profile", "keys"}}}};
  fake.keys = {{"keys", {{"aws_access_key_id", "KEYS"}, {"aws_secret_access_key", "s"}}}};
  fake.replies["POST https://sts.us-east-1.amazonaws.com/"] = keys_in_xml("ROLE", kNow + minutes(60));
  const auto found = fake.find("work");
  EXPECT_EQ(found->credentials.key.id, "ROLE");
  EXPECT_EQ(found->origin, "the role 'arn:r' of the profile 'work'");
  ASSERT_EQ(fake.requests.size(), 2u);
  const auto authorization = [&](std::size_t i) { return fake.requests.at(i).headers.back().second; };
  EXPECT_NE(authorization(0).find("Credential=KEYS/20261125/us-east-1/sts/"), std::string::npos);
  EXPECT_NE(authorization(1).find("Credential=ROLE/20261125/us-east-1/sts/"), std::string::npos);
  EXPECT_NE(fake.requests.at(1).body.find("ExternalId=x%20y"), std::string::npos);
}

TEST(FindCredentials, AsksForARoleInChinaThere) {
  FakeWorld fake;
  fake.variables = {{"AWS_REGION", "cn-north-1"}};
  fake.config = {{"default", {{"role_arn", "arn:r"}, {"source_profile", "default"}}}};
  fake.keys = {{"default", {{"aws_access_key_id", "OWN"}, {"aws_secret_access_key", "s"}}}};
  fake.replies["POST https://sts.cn-north-1.amazonaws.com.cn/"] = keys_in_xml("ROLE", kNow + minutes(60));
  EXPECT_EQ(fake.find()->credentials.key.id, "ROLE");
}

TEST(FindCredentials, AsksTheServiceThatTheUserNamesForARole) {
  for (const bool by_profile : {false, true}) {
    FakeWorld fake;
    fake.config = {
        {"profile work", {{"role_arn", "arn:r"}, {"source_profile", "work"}, {"services", "local"}}},
        {"services local", {{"sts.endpoint_url", by_profile ? "https://sts.local" : ""}}},
    };
    fake.keys = {
        {"work", {{"aws_access_key_id", "OWN"}, {"aws_secret_access_key", "s"}, {"aws_session_token", "own-token"}}}};
    if (!by_profile) fake.variables = {{"AWS_ENDPOINT_URL", "https://all.local/"}};
    const std::string url = by_profile ? "https://sts.local/" : "https://all.local/";
    fake.replies["POST " + url] = keys_in_xml("ROLE", kNow + minutes(60));
    EXPECT_EQ(fake.find("work")->credentials.key.id, "ROLE");
    ASSERT_EQ(fake.requests.size(), 1u);
    const NamedTexts& sent = fake.requests[0].headers;
    EXPECT_NE(std::find(sent.begin(), sent.end(), NamedTexts::value_type("x-amz-security-token", "own-token")),
              sent.end());
  }
}

TEST(FindCredentials, NoticesRolesInACircle) {
  FakeWorld fake;
  fake.config = {{"profile a", {{"role_arn", "arn:a"}, {"source_profile", "b"}}},
                 {"profile b", {{"role_arn", "arn:b"}, {"source_profile", "a"}}}};
  EXPECT_NE(error_of([&] { fake.find("a"); }).message().find("form a circle"), std::string::npos);
}

TEST(FindCredentials, SaysWhyARoleIsRefused) {
  FakeWorld fake;
  fake.config = {{"profile a", {{"role_arn", "arn:a"}, {"source_profile", "a"}}}};
  fake.keys = {{"a", {{"aws_access_key_id", "A"}, {"aws_secret_access_key", "s"}}}};
  fake.replies["POST https://sts.us-east-1.amazonaws.com/"] = {
      403, "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>"};
  EXPECT_EQ(error_of([&] { fake.find("a"); }).message(),
            "https://sts.us-east-1.amazonaws.com refused keys for the role 'arn:a': 403 AccessDenied");
}

TEST(FindCredentials, AsksTheContainersService) {
  const TempFolder folder;
  FakeWorld fake;
  fake.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
                    {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", folder.write("token", "pod-token\n")}};
  fake.replies["GET http://169.254.170.23/v1/credentials"] = keys_in_json("POD", kNow + minutes(60));
  EXPECT_EQ(fake.find()->credentials.key, (AccessKey{"POD", "s", "t"}));
  EXPECT_EQ(fake.requests.at(0).headers.at(0), (std::pair<std::string, std::string>("Authorization", "pod-token")));
}

TEST(FindCredentials, SendsAContainersTokenToTrustedPlacesAlone) {
  for (const std::string url :
       {"http://example.org/", "http://127.0.0.1.example.org/", "http://127.0.0.1:80@example.org/",
        "http://localhost@example.org/", "ftp://127.0.0.1/"}) {
    FakeWorld fake;
    fake.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "secret"}};
    EXPECT_EQ(error_of([&] { fake.find(); }).kind(), ErrorKind::kUsage) << url;
    EXPECT_TRUE(fake.requests.empty()) << url;
  }
  for (const std::string url : {"http://localhost:1234/keys", "http://[::1]:80/keys", "https://example.org/keys"}) {
    FakeWorld fake;
    fake.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url}};
    fake.replies["GET " + url] = keys_in_json("POD", kNow + minutes(60));
    EXPECT_EQ(fake.find()->credentials.key.id, "POD") << url;
  }
}

const std::string kInstance = "http://169.254.169.254/latest/";
const std::string kRoles = kInstance + "meta-data/iam/security-credentials/";

TEST(FindCredentials, AsksTheInstancesService) {
  FakeWorld fake;
  fake.replies = {{"PUT " + kInstance + "api/token", {200, "session"}},
                  {"GET " + kRoles, {200, "trainer"}},
                  {"GET " + kRoles + "trainer", keys_in_json("EC2", kNow + minutes(60))}};
  const auto found = fake.find();
  EXPECT_EQ(found->credentials.key.id, "EC2");
  EXPECT_EQ(found->origin, "the instance's role 'trainer'");
  EXPECT_EQ(fake.requests.at(2).headers.at(0),
            (std::pair<std::string, std::string>("X-aws-ec2-metadata-token", "session")));
}

TEST(FindCredentials, AsksTheInstancesServiceWithoutATokenWhereNoneArrives) {
  FakeWorld fake;
  fake.replies = {{"GET " + kRoles, {200, "trainer"}},
                  {"GET " + kRoles + "trainer", keys_in_json("EC2", kNow + minutes(60))}};
  EXPECT_EQ(fake.find()->credentials.key.id, "EC2");
  EXPECT_TRUE(fake.requests.back().headers.empty());
  fake.replies.erase("GET " + kRoles + "trainer");
  EXPECT_EQ(error_of([&] { fake.find(); }).kind(), ErrorKind::kIo) << "it is an instance, since it answered";
}

TEST(FindCredentials, FindsNothingWhereNothingIs) {
  FakeWorld fake;
  EXPECT_FALSE(fake.find());
  ASSERT_EQ(fake.requests.size(), 2u) << "the instance's service is asked with a token and without";
  EXPECT_LE(fake.requests[0].limit + fake.requests[1].limit, seconds(2));
  fake.variables = {{"AWS_EC2_METADATA_DISABLED", "true"}};
  fake.requests.clear();
  EXPECT_FALSE(fake.find());
  EXPECT_TRUE(fake.requests.empty());
}

TEST(FindCredentials, RefusesRepliesWithoutKeys) {
  for (const std::string body : {"", "{}", "[]", "null", "{\"AccessKeyId\": 5}", "\xff"}) {
    FakeWorld fake;
    fake.variables = {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/keys"}};
    fake.replies["GET http://169.254.170.2/keys"] = {200, body};
    EXPECT_EQ(error_of([&] { fake.find(); }).message(),
              "the container's service for keys answered without keys or their expiry")
        << body;
  }
}

TEST(FindGsCredentials, ReadsTheEnvironmentAndBotosFile) {
  const TempFolder folder;
  folder.write(".boto", "[Credentials]\ngs_access_key_id = GOOG1\ngs_secret_access_key = s\n");
  FakeWorld fake;
  EXPECT_FALSE(find_gs_credentials(fake.world().environment));
  fake.variables = {{"HOME", folder.path()}};
  EXPECT_EQ(find_gs_credentials(fake.world().environment)->credentials.key, (AccessKey{"GOOG1", "s", ""}));
  fake.variables = {{"HOME", folder.path()}, {"GS_ACCESS_KEY_ID", "GOOG2"}, {"GS_SECRET_ACCESS_KEY", "t"}};
  EXPECT_EQ(find_gs_credentials(fake.world().environment)->credentials.key, (AccessKey{"GOOG2", "t", ""}));
}

/// A container whose service gives other keys each time.
struct Container : FakeWorld {
  Container() {
    variables = {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/keys"}};
    give("FIRST", kNow + minutes(60));
  }
  void give(const std::string& id, WallTime expires) {
    replies["GET http://169.254.170.2/keys"] = keys_in_json(id, expires);
  }
};

TEST(CurrentCredentials, FetchesNewKeysBeforeTheOldOnesExpire) {
  Container fake;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  EXPECT_EQ(current.key()->id, "FIRST");
  fake.give("SECOND", kNow + minutes(120));
  fake.now = kNow + minutes(54);
  EXPECT_EQ(current.key()->id, "FIRST");
  EXPECT_EQ(fake.requests.size(), 1u);
  fake.now = kNow + minutes(56);
  EXPECT_EQ(current.key()->id, "SECOND");
  EXPECT_EQ(current.key()->id, "SECOND");
  EXPECT_EQ(fake.requests.size(), 2u);
}

TEST(CurrentCredentials, UsesTheOldKeysWhileNewOnesCannotBeFetched) {
  Container fake;
  LogCapture logged;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  current.key();
  fake.replies.clear();
  fake.now = kNow + minutes(56);
  EXPECT_EQ(current.key()->id, "FIRST");
  EXPECT_EQ(current.key()->id, "FIRST");
  EXPECT_EQ(fake.requests.size(), 2u) << "a place that fails is not asked again at once";
  fake.now += seconds(31);
  EXPECT_EQ(current.key()->id, "FIRST");
  EXPECT_EQ(fake.requests.size(), 3u);
  fake.now = kNow + minutes(60);
  EXPECT_EQ(error_of([&] { current.key(); }).kind(), ErrorKind::kIo);
}

TEST(CurrentCredentials, UsesTheOldKeysWhileNoPlaceHasAny) {
  const std::map<std::string, SmallReply> silent{},
      without_role{{"PUT " + kInstance + "api/token", {200, "session"}}, {"GET " + kRoles, {404, ""}}};
  for (const auto& replies : {silent, without_role}) {
    FakeWorld fake;
    const auto give = [&](const std::string& id, WallTime expires) {
      fake.replies = {{"PUT " + kInstance + "api/token", {200, "session"}},
                      {"GET " + kRoles, {200, "trainer"}},
                      {"GET " + kRoles + "trainer", keys_in_json(id, expires)}};
    };
    give("FIRST", kNow + minutes(60));
    LogCapture logged;
    CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
    current.key();
    fake.replies = replies;
    fake.now = kNow + minutes(56);
    ASSERT_TRUE(current.key());
    EXPECT_EQ(current.key()->id, "FIRST");
    EXPECT_EQ(logged.lines,
              std::vector<std::string>{
                  "the keys for S3 expire soon, and new ones cannot be fetched: the instance's role 'trainer' gave "
                  "keys before, and no place gives any now; check it"});
    const std::size_t asked = fake.requests.size();
    EXPECT_EQ(current.key()->id, "FIRST");
    EXPECT_EQ(fake.requests.size(), asked) << "a place that fails is not asked again at once";
    fake.now = kNow + minutes(60);
    EXPECT_EQ(error_of([&] { current.key(); }).kind(), ErrorKind::kIo) << "requests do not go unsigned";
    give("SECOND", kNow + minutes(120));
    EXPECT_EQ(current.key()->id, "SECOND");
  }
}

TEST(CurrentCredentials, FetchesNewKeysAfterARefusal) {
  Container fake;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  current.key();
  fake.give("SECOND", kNow + minutes(120));
  EXPECT_TRUE(current.refused());
  EXPECT_EQ(current.key()->id, "SECOND");
}

/// Runs what it is given when the test says so.
struct LaterExecutor final : Executor {
  void submit(Task task) override { tasks.push_back(task); }
  void run_all() {
    for (const Task& task : std::exchange(tasks, {})) task.run(task.context);
  }
  std::vector<Task> tasks;
};

TEST(CurrentCredentials, AreReadyOnceTheyWereFetchedElsewhere) {
  Container fake;
  const auto later = std::make_shared<LaterExecutor>();
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; }, [&] { return later; });
  EXPECT_FALSE(current.ready());
  EXPECT_FALSE(current.ready());
  EXPECT_EQ(later->tasks.size(), 1u) << "one fetch at a time";
  EXPECT_TRUE(fake.requests.empty());
  later->run_all();
  EXPECT_TRUE(current.ready());
  EXPECT_EQ(current.latest()->id, "FIRST");

  fake.now = kNow + minutes(56);
  fake.give("SECOND", kNow + minutes(120));
  EXPECT_TRUE(current.ready()) << "the old ones will do meanwhile";
  EXPECT_EQ(current.latest()->id, "FIRST");
  later->run_all();
  EXPECT_EQ(current.latest()->id, "SECOND");
}

TEST(CurrentCredentials, SayWhyThereAreNoneAndTryAgainLater) {
  Container fake;
  fake.replies.clear();
  const auto later = std::make_shared<LaterExecutor>();
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; }, [&] { return later; });
  EXPECT_FALSE(current.ready());
  later->run_all();
  EXPECT_TRUE(current.ready()) << "there is an answer: an error";
  EXPECT_EQ(error_of([&] { current.latest(); }).kind(), ErrorKind::kIo);
  EXPECT_TRUE(later->tasks.empty());
  fake.give("FIRST", kNow + minutes(60));
  fake.now += seconds(31);
  EXPECT_FALSE(current.ready());
  later->run_all();
  EXPECT_EQ(current.latest()->id, "FIRST");
}

TEST(CurrentCredentials, AreRefusedForGoodWhenOthersCannotBeHad) {
  Container fake;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  current.key();
  fake.now += minutes(1);  // no answers to earlier requests are under way
  EXPECT_TRUE(current.refused());
  current.key();
  EXPECT_FALSE(current.refused()) << "they are the same again";
  EXPECT_EQ(fake.requests.size(), 2u);
}

TEST(CurrentCredentials, TakeLateRefusalsForThoseOfTheKeysBefore) {
  Container fake;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  current.key();
  fake.give("SECOND", kNow + minutes(120));
  EXPECT_TRUE(current.refused());
  EXPECT_EQ(current.key()->id, "SECOND");
  fake.now += seconds(5);
  EXPECT_TRUE(current.refused());
  EXPECT_EQ(current.key()->id, "SECOND");
  EXPECT_EQ(fake.requests.size(), 2u);
  fake.now += seconds(6);
  EXPECT_TRUE(current.refused());
  current.key();
  EXPECT_EQ(fake.requests.size(), 3u);
}

TEST(CurrentCredentials, FetchesOnceForManyThreads) {
  Container fake;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(current.key()->id, "FIRST"); });
  }
  EXPECT_EQ(fake.requests.size(), 1u);
}

TEST(CurrentCredentials, RemembersThatThereAreNoKeys) {
  FakeWorld fake;
  CurrentCredentials current([&] { return fake.find(); }, [&] { return fake.now; });
  EXPECT_FALSE(current.key());
  const std::size_t asked = fake.requests.size();
  EXPECT_FALSE(current.key());
  EXPECT_EQ(fake.requests.size(), asked);
  EXPECT_EQ(current.origin(), "");
}

}  // namespace
}  // namespace stoker
