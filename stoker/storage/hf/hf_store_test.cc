// Reading from the Hugging Face hub: pinned, with a token that goes nowhere else, and with refusals that help.
#include "stoker/storage/hf/hf_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "stoker/base/error_testing.h"
#include "stoker/storage/hf/hf_hub_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Asked = HttpServer::Asked;
using Reply = HttpServer::Reply;

const Location kData = "hf://datasets/o/n";

class Hf : public ::testing::Test {
 protected:
  Hf() {
    hub_.push("train/a.tar", "content of a");
    hub_.push("train/b.tar", "content of b");
    hub_.push("README.md", "small");
  }

  HfStore& store() {
    if (!store_) store_ = hub_.make_store();
    return *store_;
  }
  std::string read(const Location& at) { return read_whole(*store().open(at)); }

  FakeHub hub_;
  std::shared_ptr<HfStore> store_;
};

TEST_F(Hf, ReadsWhatTheHubHasAndWhatItKeepsElsewhere) {
  EXPECT_EQ(read(kData / "train/a.tar"), "content of a");
  EXPECT_EQ(hub_.file_requests(), 1);
  EXPECT_EQ(read(kData / "README.md"), "small");
  EXPECT_EQ(hub_.file_requests(), 1);
  EXPECT_EQ(store().open(kData / "README.md")->name(), "hf://datasets/o/n/README.md");
}

TEST_F(Hf, KnowsSizesAndTagsFromListings) {
  const ObjectFacts facts = store().stat(kData / "train/a.tar", "open");
  EXPECT_TRUE(facts.is_file());
  EXPECT_EQ(facts.size, 12u);
  EXPECT_THAT(facts.tag, HasSubstr("sha-"));
  EXPECT_TRUE(store().stat(kData / "train", "open").is_folder());
  EXPECT_TRUE(store().stat(kData, "open").is_folder());
  const int asked = hub_.requests();
  EXPECT_EQ(asked, 3) << "the revision, the folder, and the folder that it lies in";
  EXPECT_EQ(store().find(kData / "train/b.tar")->size, 12u);
  EXPECT_FALSE(store().find(kData / "train/b.tar.sidx"));
  EXPECT_FALSE(store().find(kData / "train/a.tar/b"));
  EXPECT_FALSE(store().find(kData / "none/b.tar"));
  EXPECT_FALSE(store().find(kData / "none/c.tar"));
  EXPECT_EQ(hub_.requests(), asked + 2) << "what is not there is remembered, too";
  EXPECT_EQ(hub_.requests_for("resolve"), 0);
}

TEST_F(Hf, StaysAtTheCommitThatItSawFirst) {
  const std::shared_ptr<Source> before = store().open(kData / "train/a.tar");
  hub_.push("train/a.tar", "another content");
  hub_.push("train/c.tar", "content of c");
  EXPECT_EQ(read_whole(*before), "content of a");
  EXPECT_EQ(read(kData / "train/a.tar"), "content of a");
  EXPECT_FALSE(store().find(kData / "train/c.tar"));
  EXPECT_EQ(store().open_folder(kData)->size("train/a.tar"), 12u);
  EXPECT_EQ(hub_.requests_for("/revision/"), 1);
  EXPECT_EQ(hub_.requests_for("main"), 1) << "and is not asked about after that";
  store_ = hub_.make_store();
  EXPECT_EQ(read(kData / "train/a.tar"), "another content");
}

TEST_F(Hf, TellsACommitsFilesFromAllOthers) {
  const auto identity = [&](const char* path) { return store().open(kData / path)->identity(); };
  const auto first = identity("train/a.tar"), other = identity("train/b.tar");
  ASSERT_TRUE(first && other);
  EXPECT_NE(first->place, other->place);
  store_ = hub_.make_store();
  const auto again = identity("train/a.tar");
  EXPECT_EQ(first->place + first->version, again->place + again->version);
  hub_.push("train/b.tar", "another content");
  store_ = hub_.make_store();
  const auto unchanged = identity("train/a.tar");
  EXPECT_EQ(first->place + first->version, unchanged->place + unchanged->version) << "in another commit";
  hub_.push("train/a.tar", "content of A");
  store_ = hub_.make_store();
  const auto later = identity("train/a.tar");
  EXPECT_NE(first->place + first->version, later->place + later->version);
}

TEST_F(Hf, ReadsTheRevisionThatIsNamed) {
  hub_.branch("refs/convert/parquet");
  const std::string commit = hub_.head();
  hub_.push("train/a.tar", "another content");
  EXPECT_EQ(read("hf://datasets/o/n@refs/convert/parquet/train/a.tar"), "content of a");
  EXPECT_EQ(read("hf://datasets/o/n@refs%2Fconvert%2Fparquet/train/a.tar"), "content of a");
  EXPECT_EQ(hub_.requests_for("/revision/refs%2Fconvert%2Fparquet"), 1);
  EXPECT_EQ(read("hf://datasets/o/n@" + commit + "/train/a.tar"), "content of a");
  EXPECT_EQ(hub_.requests_for("/revision/"), 1) << "a commit needs no look";
  EXPECT_EQ(read("hf://datasets/o/n/train/a.tar"), "another content");
}

TEST_F(Hf, ReadsAllPagesOfAListing) {
  for (int i = 0; i < 25; ++i) hub_.push(fmt::format("many/{:02}", i), "x");
  hub_.page_entries = 10;
  const std::unique_ptr<Folder> folder = store().list(kData / "many");
  EXPECT_EQ(folder->size(), 25u);
  EXPECT_EQ((*folder)[24].name, "24");
  EXPECT_EQ(hub_.requests_for("/tree/"), 3);
  hub_.answer_instead([](const Asked& asked) -> std::optional<Reply> {
    if (asked.target.find("/tree/") == std::string::npos) return std::nullopt;
    return HttpServer::status(200, "Link: <https://hub.invalid/?cursor=1; rel=\"next\"\r\n", "[]");
  });
  const Error error = error_of([&] { store().list(kData / "train"); });
  EXPECT_EQ(error.kind(), ErrorKind::kData) << "part of a listing is not taken for the whole";
  EXPECT_THAT(error.message(), HasSubstr("hf://datasets/o/n/train"));
}

TEST_F(Hf, MatchesPatternsInAllComponents) {
  hub_.push("test/a.tar", "content of a");
  hub_.push("test/deep/a.tar", "content of a");
  EXPECT_THAT(store().match(kData / "t*/[ab].tar"),
              ElementsAre(kData / "test/a.tar", kData / "train/a.tar", kData / "train/b.tar"));
  EXPECT_THAT(store().match("hf://datasets/o/n@main/train/?.tar"),
              ElementsAre("hf://datasets/o/n@main/train/a.tar", "hf://datasets/o/n@main/train/b.tar"));
  EXPECT_THAT(store().match(kData / "none/*.tar"), IsEmpty());
  EXPECT_THAT(store().match(kData / "*.tar"), IsEmpty());
  EXPECT_EQ(error_of([&] { store().match("hf://datasets/o/*/a.tar"); }).kind(), ErrorKind::kUsage);
}

TEST_F(Hf, ReadsFoldersOfLooseFiles) {
  hub_.push("cats/1.jpg", "meow meow");
  hub_.push("cats/more/2.jpg", "meow");
  hub_.push("dogs/1 #.jpg", "woof woof");
  const std::shared_ptr<Source> folder = store().open_folder(kData);
  const int asked = hub_.requests();
  EXPECT_EQ(folder->size("dogs/1 #.jpg"), 9u);
  std::string content(9, '\0');
  read_fully(*folder, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(content.data()), content.size()), "dogs/1 #.jpg");
  EXPECT_EQ(content, "woof woof");
  const std::unique_ptr<Folder> cats = folder->list("cats");
  EXPECT_EQ(cats->size(), 2u);
  EXPECT_EQ(hub_.requests(), asked + 1) << "one listing has all of them";
  EXPECT_EQ(error_of([&] { folder->size("cats"); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error_of([&] { folder->size("cats/2.jpg"); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error_of([&] { folder->list("birds"); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error_of([&] { store().open_folder(kData / "birds"); }).kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error_of([&] { store().list(kData / "birds"); }).kind(), ErrorKind::kNotFound);
}

TEST_F(Hf, TellsItsTokenToTheHubAlone) {
  std::atomic<int> without = 0;
  hub_.answer_instead([&](const Asked& asked) -> std::optional<Reply> {
    without += asked.field("authorization") == "Bearer hf_s3cr3t" ? 0 : 1;
    return std::nullopt;
  });
  EXPECT_EQ(read(kData / "train/a.tar"), "content of a");
  EXPECT_EQ(without, 0);
  EXPECT_EQ(hub_.file_requests(), 1) << "where the hub's double fails the test when it sees a token";
  store_ = hub_.make_store("");
  read(kData / "train/a.tar");
  EXPECT_EQ(without, 3) << "of the revision, the folder and the file";
}

struct RefusalCase {
  int status;
  const char *code, *token;
  ErrorKind kind;
  const char* part;
};

TEST_F(Hf, SaysWhatToCheckWhereTheHubRefuses) {
  const RefusalCase cases[] = {
      {401, "GatedRepo", "", ErrorKind::kIo, "set HF_TOKEN"},
      {403, "GatedRepo", "hf_s3cr3t", ErrorKind::kIo, "accept its conditions on http://"},
      {401, "RepoNotFound", "", ErrorKind::kNotFound, "or it is private"},
      {404, "RepoNotFound", "hf_s3cr3t", ErrorKind::kNotFound, "whether the token"},
      {404, "RevisionNotFound", "hf_s3cr3t", ErrorKind::kNotFound, "no revision 'main'"},
      {404, "EntryNotFound", "hf_s3cr3t", ErrorKind::kNotFound, "check the path"},
      {401, "", "hf_s3cr3t", ErrorKind::kIo, "does not accept the token"},
      {401, "", "", ErrorKind::kNotFound, "or it is private"},
      {403, "", "hf_s3cr3t", ErrorKind::kIo, "permissions of the token"},
      {404, "", "", ErrorKind::kNotFound, "check the path"},
      {410, "", "", ErrorKind::kNotFound, "gone for good"},
  };
  for (const RefusalCase& one : cases) {
    SCOPED_TRACE(fmt::format("{} {} '{}'", one.status, one.code, one.token));
    const auto refusal = [&] { return HttpServer::status(one.status, fmt::format("X-Error-Code: {}\r\n", one.code)); };
    hub_.answer_instead([&](const Asked&) -> std::optional<Reply> { return refusal(); });
    store_ = hub_.make_store(one.token);
    EXPECT_FALSE(store().find(kData / "train/a.tar"));
    const Error looked = error_of([&] { store().stat(kData / "train/a.tar", "open"); });
    // And the same where only files are refused, as those of gated data sets are.
    hub_.answer_instead([&](const Asked& asked) -> std::optional<Reply> {
      return asked.target.find("/resolve/") == std::string::npos ? std::nullopt : std::optional(refusal());
    });
    const std::shared_ptr<Source> source = store().open(kData / "train/a.tar");
    const int before = hub_.requests();
    const Error was_read = error_of([&] { read_whole(*source); });
    EXPECT_EQ(hub_.requests(), before + 1) << "it is not repeated";
    for (const Error& error : {looked, was_read}) {
      EXPECT_EQ(error.kind(), one.kind);
      EXPECT_THAT(error.message(),
                  AllOf(HasSubstr("'hf://datasets/o/n/train/a.tar'"), HasSubstr(one.part), Not(HasSubstr("s3cr3t"))));
    }
  }
}

TEST_F(Hf, AsksTheHubAgainWhereAPlaceIsRefused) {
  std::atomic<int> refused = 0;
  hub_.answer_files_instead([&](const Asked& asked) -> std::optional<Reply> {
    if (asked.target.find("s1gn3d-1") == std::string::npos) return std::nullopt;
    ++refused;
    return HttpServer::status(403);
  });
  EXPECT_EQ(read(kData / "train/a.tar"), "content of a");
  EXPECT_EQ(refused, 1);
  hub_.answer_files_instead([](const Asked&) { return HttpServer::status(403); });
  const Error error = error_of([&] { read(kData / "train/b.tar"); });
  EXPECT_THAT(error.message(), AllOf(HasSubstr("status 403"), HasSubstr("tried"), Not(HasSubstr("s1gn3d"))));
}

TEST_F(Hf, AsksTheHubOnceForThePlaceOfAFile) {
  const std::shared_ptr<Source> source = store().open(kData / "train/a.tar");
  std::string last_signature;
  hub_.answer_files_instead([&](const Asked& asked) -> std::optional<Reply> {
    const std::string signature = asked.target.substr(asked.target.find('?'));
    const bool has_expired = std::exchange(last_signature, signature) == signature && signature.ends_with("-1");
    return has_expired ? std::optional(HttpServer::status(403)) : std::nullopt;
  });
  EXPECT_EQ(read_whole(*source), "content of a");
  EXPECT_EQ(hub_.requests_for("/resolve/"), 1);
  EXPECT_EQ(read_whole(*source), "content of a") << "though the place that is known refuses it";
  EXPECT_EQ(hub_.requests_for("/resolve/"), 2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(read_whole(*source), "content of a");
  EXPECT_EQ(hub_.requests_for("/resolve/"), 2);
  EXPECT_EQ(hub_.file_requests(), 13);
}

TEST_F(Hf, NoticesContentOfAnotherSize) {
  const std::shared_ptr<Source> source = store().open(kData / "train/a.tar");
  hub_.answer_files_instead([](const Asked& asked) { return HttpServer::serve(asked, "content of another size"); });
  EXPECT_EQ(error_of([&] { read_whole(*source); }).kind(), ErrorKind::kData);
}

TEST_F(Hf, RefusesWhatIsNoReply) {
  for (const char* reply : {"", "{}", "[1", "<html>", R"({"sha": "main"})"}) {
    hub_.answer_instead([&](const Asked&) { return HttpServer::status(200, "", reply); });
    store_ = hub_.make_store();
    const Error error = error_of([&] { store().stat(kData, "open"); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.message(), HasSubstr("cannot open 'hf://datasets/o/n'"));
  }
  hub_.answer_instead([](const Asked& asked) -> std::optional<Reply> {
    if (asked.target.find("/tree/") == std::string::npos) return std::nullopt;
    return HttpServer::status(200, "", R"([{"type": "file", "path": "x", "size": 1}])");
  });
  store_ = hub_.make_store();
  EXPECT_EQ(error_of([&] { store().list(kData / "train"); }).kind(), ErrorKind::kData)
      << "what it lists is not in that folder";
}

TEST_F(Hf, RefusesToWriteAndToOpenFolders) {
  EXPECT_EQ(error_of([&] { store().put(kData / "c.tar"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { store().open(kData / "train"); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { store().open("hf://gpt2"); }).kind(), ErrorKind::kUsage);
  EXPECT_FALSE(store().find("hf://datasets/{o,p}/n/a.tar"));
}

TEST(HfStore, AsksNothingWhenItIsOffline) {
  FakeHub hub;
  const HfAccess offline{.endpoint = hub.endpoint(), .offline = true};
  const HfStore store(std::make_shared<HttpTransport>(HttpOptions(), [] { return std::make_shared<InlineExecutor>(); }),
                      [&] { return offline; });
  EXPECT_THAT(error_of([&] { store.stat(kData, "open"); }).message(), HasSubstr("HF_HUB_OFFLINE"));
  EXPECT_EQ(hub.requests(), 0);
}

}  // namespace
}  // namespace stoker
