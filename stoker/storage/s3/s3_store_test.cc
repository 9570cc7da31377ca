#include "stoker/storage/s3/s3_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>

#include "stoker/base/error_testing.h"
#include "stoker/storage/s3/s3_server_testing.h"
#include "stoker/storage/slow_downs.h"
#include "stoker/storage/stores.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Repeats without delays.
HttpOptions quick() {
  return {.delay_first = std::chrono::milliseconds(1), .delay_most = std::chrono::milliseconds(2)};
}

class S3StoreTest : public ::testing::Test {
 protected:
  /// What reading an object says when the store refuses it so.
  Error refused(int status, std::string_view code, std::string_view more = "") {
    server_.meddle([=, code = std::string(code), more = std::string(more)](const S3Server::Asked&) {
      return S3Server::refusal(status, code, more);
    });
    return error_of([&] { s3_store(server_, quick())->stat("s3://bucket/a.tar", "open"); });
  }

  S3Server server_;
};

TEST_F(S3StoreTest, ReadsKeysOfAnyCharacters) {
  const auto store = s3_store(server_, quick());
  for (const std::string key : {"a b+c&d=e.tar", "50%25.tar", "ä/ö?#.tar", "x/../y.tar", "x//y.tar", "[a]*{b}.tar",
                                "'\"<>\\.tar", "~-_.!$(),:;@"}) {
    server_.put(key, "content of " + key);
    EXPECT_EQ(read_whole(*store->open("s3://bucket/" + key)), "content of " + key);
  }
  const std::string odd = "%2F&amp;<x> +";
  server_.put("odd/" + odd, "x");
  EXPECT_EQ((*store->list("s3://bucket/odd"))[0].name, odd);
}

TEST_F(S3StoreTest, ListsFoldersOfManyPages) {
  for (int i = 0; i < 25; ++i)
    server_.put(fmt::format("data/{:02}.jpg", i), std::string(static_cast<std::size_t>(i), 'x'));
  for (const char* key : {"data/class/a.jpg", "data/class/b.jpg", "data/", "datum"}) server_.put(key, "x");
  server_.set_page(4);
  const std::unique_ptr<Folder> folder = s3_store(server_)->list("s3://bucket/data");
  EXPECT_EQ(folder->size(), 26u);
  EXPECT_EQ(folder->look_at("24.jpg").length, 24u);
  EXPECT_EQ(error_of([&] { folder->look_at("25.jpg"); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(server_.count("GET bucket/ "), 7);
}

TEST_F(S3StoreTest, MatchesPatternsBySegmentAndRemembersWhatItSaw) {
  for (const char* key : {"t/a-1.tar", "t/a-2.tar", "t/b-1.tar", "t/.a-3.tar", "t/deep/a-1.tar", "u/a-1.tar"}) {
    server_.put(key, "x");
  }
  const auto store = s3_store(server_);
  EXPECT_THAT(store->match("s3://bucket/t/a-?.tar"), ElementsAre("s3://bucket/t/a-1.tar", "s3://bucket/t/a-2.tar"));
  EXPECT_THAT(store->match("s3://bucket/?/a-1.tar"), ElementsAre("s3://bucket/t/a-1.tar", "s3://bucket/u/a-1.tar"));
  EXPECT_THAT(store->match("s3://bucket/t/d*"), ElementsAre("s3://bucket/t/deep"));
  EXPECT_TRUE(store->find("s3://bucket/t/a-2.tar"));
  EXPECT_EQ(server_.count("HEAD"), 0);
}

TEST_F(S3StoreTest, RemembersShardsThatItSawInAFolder) {
  server_.put("t/a.tar", std::string(1 << 20, 'x'));
  server_.put("t/b.jpg", "x");
  const auto store = s3_store(server_);
  store->list("s3://bucket/t");
  EXPECT_EQ(store->find("s3://bucket/t/a.tar")->size, std::uint64_t{1} << 20);
  EXPECT_EQ(server_.count("HEAD"), 0);
  EXPECT_TRUE(store->find("s3://bucket/t/b.jpg"));
  EXPECT_EQ(server_.count("HEAD"), 1);
}

TEST_F(S3StoreTest, KnowsWhatAFolderLacksOnceItHasSeenTheWhole) {
  server_.put("t/a.tar", "x");
  server_.put("t/in/b.jpg", "y");
  const auto store = s3_store(server_);
  ASSERT_TRUE(store->find("s3://bucket/t/")->is_folder());
  const int asked = server_.count("GET");
  EXPECT_EQ(store->find("s3://bucket/t/a.tar")->size, 1u);
  EXPECT_TRUE(store->find("s3://bucket/t/in")->is_folder());
  EXPECT_FALSE(store->find("s3://bucket/t/a.tar.sidx"));
  EXPECT_TRUE(store->stat("s3://bucket/t/", "open").is_folder());
  EXPECT_EQ(server_.count("GET"), asked);
  EXPECT_EQ(server_.count("HEAD"), 0);
  const auto writer = store->put("s3://bucket/t/a.tar.sidx");
  writer->write(as_bytes("index"));
  writer->commit();
  EXPECT_EQ(store->find("s3://bucket/t/a.tar.sidx")->size, 5u) << "what it wrote itself";
  store->remove("s3://bucket/t/a.tar");
  EXPECT_FALSE(store->find("s3://bucket/t/a.tar"));
}

TEST_F(S3StoreTest, DoesNotTakePartOfAFolderForTheWhole) {
  for (int i = 0; i < 5; ++i) server_.put(fmt::format("t/{}.tar", i), "x");
  server_.set_page(2);
  const auto store = s3_store(server_);
  ASSERT_TRUE(store->find("s3://bucket/t/")->is_folder());
  EXPECT_TRUE(store->find("s3://bucket/t/4.tar"));
  EXPECT_FALSE(store->find("s3://bucket/t/5.tar"));
  EXPECT_EQ(server_.count("HEAD"), 2);
}

TEST_F(S3StoreTest, ListsTheFolderOfManyThatAreExpected) {
  std::vector<Location> expected;
  for (int i = 0; i < 300; ++i) {
    server_.put(fmt::format("t/{:03}.tar", i), "x");
    expected.emplace_back(fmt::format("s3://bucket/t/{:03}.tar", i));
  }
  const auto store = s3_store(server_);
  store->expect(expected);
  for (const Location& at : expected) EXPECT_TRUE(store->find(at));
  EXPECT_EQ(server_.count("HEAD"), 0);
  EXPECT_EQ(server_.count("GET"), 1);
}

TEST_F(S3StoreTest, ListedAndExaminedObjectsHaveOneVersion) {
  server_.put("t/a.tar", "x");
  const auto listed = s3_store(server_);
  listed->match("s3://bucket/t/*");
  EXPECT_EQ(listed->find("s3://bucket/t/a.tar")->version(), s3_store(server_)->find("s3://bucket/t/a.tar")->version());
  const auto identity = [](const Store& store) { return store.open("s3://bucket/t/a.tar")->identity(); };
  EXPECT_EQ(identity(*listed)->version, identity(*s3_store(server_))->version);
}

TEST_F(S3StoreTest, CountsWhatThrottlesIt) {
  server_.put("a.tar", "x");
  std::atomic<int> left = 2;
  server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (!asked.summary().starts_with("GET") || left-- <= 0) return std::nullopt;  // the refusal of a HEAD has no code
    return S3Server::refusal(503, "SlowDown");
  });
  const auto store = s3_store(server_, quick());
  EXPECT_EQ(read_whole(*store->open("s3://bucket/a.tar")), "x");
  EXPECT_EQ(slow_downs_of({store->meter()}), 2);
}

TEST_F(S3StoreTest, NoticesThatAnObjectWasReplaced) {
  server_.put("a.tar", "first");
  const auto source = s3_store(server_, quick())->open("s3://bucket/a.tar");
  server_.put("a.tar", "other");
  const Error error = error_of([&] { read_whole(*source); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("was replaced"));
}

TEST_F(S3StoreTest, AnonymousRequestsAreNotSigned) {
  server_.accept({});
  server_.put("a.tar", "x");
  std::atomic<int> signed_requests = 0;
  server_.meddle([&](const S3Server::Asked& asked) {
    signed_requests += asked.http.field("authorization").empty() ? 0 : 1;
    return std::nullopt;
  });
  EXPECT_TRUE(s3_store(server_, quick(), {.anonymous = true})->find("s3://bucket/a.tar"));
  auto variables = server_.environment();
  variables["AWS_NO_SIGN_REQUEST"] = "true";
  EXPECT_TRUE(s3_store(variables)->find("s3://bucket/a.tar"));
  EXPECT_EQ(signed_requests, 0);
}

TEST_F(S3StoreTest, OptionsCountMoreThanVariables) {
  server_.put("a.tar", "x");
  auto variables = server_.environment();
  variables["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:1";
  variables["AWS_REGION"] = "elsewhere";
  const StoreOptions options{.endpoint = server_.endpoint(), .region = std::string(S3Server::kRegion)};
  EXPECT_TRUE(s3_store(variables, quick(), options)->find("s3://bucket/a.tar"));
}

TEST_F(S3StoreTest, SaysWhatToCheckWhenItIsRefused) {
  const std::vector<std::tuple<int, const char*, const char*>> cases = {
      {403, "AccessDenied", "access is denied; check whether the keys from the environment (AWS_ACCESS_KEY_ID) may"},
      {403, "InvalidAccessKeyId", "does not accept the keys from the environment (AWS_ACCESS_KEY_ID)"},
      {403, "SignatureDoesNotMatch", "check them, and the endpoint"},
      {403, "RequestTimeTooSkewed", "set the clock"},
      {404, "NoSuchBucket", "there is no bucket 'bucket' at http://127.0.0.1:"},
      {404, "NoSuchKey", "no such object"},
      {403, "AccountProblem", "'AccountProblem' (status 403): Because of AccountProblem."},
  };
  for (const auto& [status, code, sentence] : cases) {
    const Error error = refused(status, code);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("cannot open 's3://bucket/a.tar"), HasSubstr(sentence)));
    EXPECT_EQ(error.kind(), status == 404 ? ErrorKind::kNotFound : ErrorKind::kIo) << code;
  }
  EXPECT_THAT(refused(400, "AuthorizationHeaderMalformed", "<Region>eu-far-2</Region>").message(),
              HasSubstr("the bucket is in the region 'eu-far-2', but requests are for 'eu-test-1'"));
  refused(503, "SlowDown");
  const Error slow = error_of([&] { s3_store(server_, quick())->list("s3://bucket/data"); });
  EXPECT_THAT(slow.message(), AllOf(HasSubstr("'SlowDown' (status 503)"), HasSubstr("tried 10 times")));
}

TEST_F(S3StoreTest, RepeatsRefusalsWithStatus400ThatMayPass) {
  struct Case {
    const char* code;
    bool is_slow_down;
  };
  for (const Case& one :
       {Case{"Throttling", true}, Case{"ThrottlingException", true}, Case{"ThrottledException", true},
        Case{"RequestThrottled", true}, Case{"RequestThrottledException", true}, Case{"TooManyRequests", true},
        Case{"TooManyRequestsException", true}, Case{"RequestLimitExceeded", true},
        Case{"BandwidthLimitExceeded", true}, Case{"SlowDown", true}, Case{"RequestTimeout", false},
        Case{"IncompleteBody", false}, Case{"BadDigest", false}, Case{"XAmzContentSHA256Mismatch", false}}) {
    server_.put("a.tar", "x");
    std::atomic<int> left = 1;
    server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
      if (asked.method != "GET" || left-- <= 0) return std::nullopt;
      return S3Server::refusal(400, one.code);
    });
    const auto store = s3_store(server_, quick());
    EXPECT_EQ(read_whole(*store->open("s3://bucket/a.tar")), "x") << one.code;
    EXPECT_EQ(slow_downs_of({store->meter()}), one.is_slow_down ? 1 : 0) << one.code;
  }
}

TEST_F(S3StoreTest, NamesTheRegionThatARedirectOfAHeadTells) {
  server_.meddle([](const S3Server::Asked&) {
    return HttpServer::status(301, "x-amz-bucket-region: eu-far-2\r\nLocation: http://127.0.0.1:1/\r\n");
  });
  EXPECT_THAT(error_of([&] { s3_store(server_)->stat("s3://bucket/a.tar", "open"); }).message(),
              HasSubstr("the bucket is in the region 'eu-far-2'"));
  server_.meddle([](const S3Server::Asked&) { return HttpServer::status(307, "Location: http://127.0.0.1:1/\r\n"); });
  EXPECT_THAT(error_of([&] { s3_store(server_)->stat("s3://bucket/a.tar", "open"); }).message(),
              HasSubstr("check the endpoint and the region"));
}

TEST_F(S3StoreTest, DoesNotRepeatWhatIsDenied) {
  server_.put("a.tar", "content");
  const auto source = s3_store(server_, quick())->open("s3://bucket/a.tar");
  server_.meddle([](const S3Server::Asked&) { return S3Server::refusal(403, "AccessDenied"); });
  const int before = static_cast<int>(server_.requests().size());
  for (int i = 0; i < 3; ++i) EXPECT_THAT(error_of([&] { read_whole(*source); }).message(), HasSubstr("denied"));
  EXPECT_EQ(static_cast<int>(server_.requests().size()), before + 1);
}

TEST_F(S3StoreTest, FindsNothingWhereItMayNotList) {
  server_.meddle([](const S3Server::Asked&) { return S3Server::refusal(403, "AccessDenied"); });
  EXPECT_FALSE(s3_store(server_)->find("s3://bucket/a.tar.sidx"));
}

TEST_F(S3StoreTest, RefusesLocationsThatNameNoObject) {
  const auto store = s3_store(server_);
  EXPECT_EQ(error_of([&] { store->find("s3://"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { store->open("s3://bucket"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { store->put("s3://bucket/a/"); }).kind(), ErrorKind::kUsage);
  const Error keys = error_of([&] { store->open("s3://ID:SECRET@bucket/a.tar"); });
  EXPECT_EQ(keys.kind(), ErrorKind::kUsage);
  EXPECT_THAT(keys.message(),
              AllOf(HasSubstr("s3://bucket/a.tar"), HasSubstr("AWS_PROFILE"), Not(HasSubstr("SECRET@"))));
}

TEST_F(S3StoreTest, RefusesListingsOfSomethingElse) {
  for (const std::string key : {"other/a.jpg", "data", "d"}) {
    server_.meddle([&](const S3Server::Asked&) {
      return HttpServer::status(200, "",
                                fmt::format("<ListBucketResult><Contents><Key>{}</Key><Size>1</Size></Contents>"
                                            "</ListBucketResult>",
                                            key));
    });
    EXPECT_THAT(error_of([&] { s3_store(server_)->list("s3://bucket/data"); }).message(), HasSubstr("begin")) << key;
  }
}

TEST_F(S3StoreTest, RefusesListingsThatGoOnInTheSamePlace) {
  constexpr int kEnd = 10;  // so that the test ends where they are not refused
  std::atomic<int> asked = 0;
  server_.meddle([&](const S3Server::Asked&) {
    return HttpServer::status(200, "",
                              fmt::format("<ListBucketResult><Contents><Key>data/{}</Key><Size>1</Size></Contents>"
                                          "<IsTruncated>{}</IsTruncated><NextContinuationToken>again"
                                          "</NextContinuationToken></ListBucketResult>",
                                          asked.load(), ++asked < kEnd));
  });
  EXPECT_EQ(
      error_of([&] { s3_store(server_)->list("s3://bucket/data"); }).message(),
      "cannot list 's3://bucket/data/': two of the store's answers go on in the same place, without end; check it");
  EXPECT_EQ(asked, 2);
}

// --- Keys that expire

/// A service of containers, which gives keys as a test tells it to.
class ExpiringKeys : public S3StoreTest {
 protected:
  ExpiringKeys() {
    server_.put("a.tar", "content");
    give("FIRST", "2999-01-01T00:00:00Z");
    variables_ = server_.environment();
    variables_.erase("AWS_ACCESS_KEY_ID");
    variables_.erase("AWS_SECRET_ACCESS_KEY");
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = keys_.url("/keys");
    variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "container-token";
  }

  void give(const std::string& id, const std::string& expires) {
    const std::lock_guard lock(mutex_);
    document_ = fmt::format(
        R"({{"AccessKeyId": "{}", "SecretAccessKey": "secret", "Token": "session", "Expiration": "{}"}})", id, expires);
  }

  /// The store takes these alone, and calls others expired.
  void take_only(const std::string& id) {
    server_.accept({id, "secret", "session"});
    server_.meddle([id](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
      if (asked.http.field("authorization").find("Credential=" + id + "/") != std::string::npos) return std::nullopt;
      return S3Server::refusal(400, "ExpiredToken");
    });
  }

  std::mutex mutex_;
  std::string document_;
  HttpServer keys_{[this](const HttpServer::Asked& asked) {
    const std::lock_guard lock(mutex_);
    if (asked.field("authorization") != "container-token") return HttpServer::status(401);
    return HttpServer::status(200, "", document_);
  }};
  std::map<std::string, std::string> variables_;
};

TEST_F(ExpiringKeys, AreFetchedAnewWhenTheStoreCallsThemExpired) {
  // The transport's thread hears of it, and is needed to fetch others: it must not wait for them.
  take_only("FIRST");
  const auto source = s3_store(variables_, quick())->open("s3://bucket/a.tar");
  EXPECT_EQ(keys_.requests(), 1);
  give("SECOND", "2999-01-01T00:00:00Z");
  take_only("SECOND");
  EXPECT_EQ(read_whole(*source), "content");
  EXPECT_EQ(keys_.requests(), 2);
}

TEST_F(ExpiringKeys, AreFetchedOnceWhenTheyAreTheSame) {
  take_only("OTHER");
  const Error error = error_of([&] { s3_store(variables_, quick())->stat("s3://bucket/a.tar", "open"); });
  EXPECT_THAT(error.message(),
              AllOf(HasSubstr("the keys from the container's service for keys have expired"), HasSubstr("renew them")));
  EXPECT_EQ(keys_.requests(), 2);
}

TEST_F(ExpiringKeys, ThatHaveExpiredWhenTheyAreGivenAreRefused) {
  give("FIRST", "2020-01-01T00:00:00Z");
  const auto store = s3_store(variables_, quick());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(error_of([&] { store->stat("s3://bucket/a.tar", "open"); }).message(),
                AllOf(HasSubstr("the container's service for keys gives keys that have expired"), HasSubstr("clock")));
  }
  EXPECT_EQ(keys_.requests(), 1);
}

TEST_F(ExpiringKeys, ThatCannotBeFetchedAreTheReasonThatReadsFail) {
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "";
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost:1/keys";
  const auto store = s3_store(variables_, quick());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(error_of([&] { store->stat("s3://bucket/a.tar", "open"); }).message(),
                HasSubstr("cannot get keys from 'http://localhost:1/keys'"));
  }
}

TEST_F(ExpiringKeys, AppearInNoMessage) {
  take_only("OTHER");
  std::vector<std::string> said;
  const auto store = s3_store(variables_, quick());
  for (const char* code : {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "Strange"}) {
    server_.meddle([&](const S3Server::Asked&) { return S3Server::refusal(403, code); });
    said.push_back(error_of([&] { store->stat("s3://bucket/a.tar", "open"); }).message());
    said.push_back(error_of([&] { store->list("s3://bucket/"); }).message());
  }
  for (const std::string& sentence : said) {
    EXPECT_THAT(sentence, AllOf(Not(HasSubstr("secret")), Not(HasSubstr("session")), Not(HasSubstr("container-token")),
                                Not(HasSubstr("Signature="))));
  }
}

TEST_F(S3StoreTest, FindsKeysThatWereRenewedInAFile) {
  const TempFolder folder;
  const auto give = [&](const std::string& id) {
    folder.write("credentials", fmt::format("[default]\naws_access_key_id = {}\naws_secret_access_key = secret\n", id));
    server_.accept({id, "secret", ""});
  };
  auto variables = server_.environment();
  variables.erase("AWS_ACCESS_KEY_ID");
  variables.erase("AWS_SECRET_ACCESS_KEY");
  variables["AWS_SHARED_CREDENTIALS_FILE"] = folder.path("credentials");
  server_.put("a.tar", "content");
  give("FIRST");
  const auto source = s3_store(variables, quick())->open("s3://bucket/a.tar");
  give("SECOND");
  server_.meddle([](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (asked.http.field("authorization").find("Credential=SECOND/") != std::string::npos) return std::nullopt;
    return S3Server::refusal(400, "ExpiredToken");
  });
  EXPECT_EQ(read_whole(*source), "content");
}

TEST_F(ExpiringKeys, DoNotWaitForReadsThatAreUnderWay) {
  std::counting_semaphore<> is_reading(0), was_asked(0);
  HttpServer keys([&](const HttpServer::Asked&) {
    was_asked.release();
    return HttpServer::status(200, "", document_);
  });
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = keys.url("/keys");
  server_.accept({"FIRST", "secret", "session"});
  std::atomic<bool> holds = true;
  server_.meddle([&](const S3Server::Asked& asked) -> std::optional<HttpServer::Reply> {
    if (asked.key != "held.tar") return std::nullopt;
    if (asked.method == "GET" && holds.exchange(false)) {
      is_reading.release();
      was_asked.acquire();
    }
    return HttpServer::serve(asked.http, "held");
  });
  HttpOptions one_at_a_time = quick();
  one_at_a_time.exchanges_near = one_at_a_time.exchanges_max = 1;
  const auto transport =
      std::make_shared<HttpTransport>(one_at_a_time, [] { return std::make_shared<ThreadExecutor>(1); });
  const S3Store reading("s3", {.anonymous = true}, environment_of(variables_), transport);
  const S3Store signing("s3", {}, environment_of(variables_), transport);
  const auto held = reading.open("s3://bucket/held.tar");
  std::jthread reader([&] { EXPECT_EQ(read_whole(*held), "held"); });
  is_reading.acquire();
  const std::exception_ptr failure = thrown_by([&] { EXPECT_TRUE(signing.find("s3://bucket/a.tar")); });
  EXPECT_FALSE(failure) << "there was room for the request for keys";
  if (failure) was_asked.release();
}

// --- Other stores

TEST(GsStore, SpeaksTheSameProtocolWithItsOwnKeysAndEndpoint) {
  S3Server server;
  server.accept({});
  server.put("a.tar", "content");
  const TempFolder home;
  const auto transport = std::make_shared<HttpTransport>(quick(), [] { return std::make_shared<ThreadExecutor>(1); });
  const S3Store store("gs", {}, environment_of({{"STORAGE_EMULATOR_HOST", server.endpoint()}, {"HOME", home.path()}}),
                      transport);
  EXPECT_EQ(read_whole(*store.open("gs://bucket/a.tar")), "content");
  EXPECT_THAT(store.match("gs://bucket/*"), ElementsAre("gs://bucket/a.tar"));
}

}  // namespace
}  // namespace stoker
