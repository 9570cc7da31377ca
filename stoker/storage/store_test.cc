// What holds for every store.
#include "stoker/storage/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "stoker/base/error_testing.h"
#include "stoker/storage/hf/hf_hub_testing.h"
#include "stoker/storage/memory_store_testing.h"
#include "stoker/storage/s3/s3_server_testing.h"
#include "stoker/storage/stores.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// With a folder of the store to write to. Nothing is put on a hub by its store, but by a push.
class EveryStore : public ::testing::TestWithParam<const char*> {
 protected:
  EveryStore() {
    if (is_hub()) {
      hub_.emplace();
      open_hub();
    } else {
      stores_.add(std::make_shared<MemoryStore>()).add(s3_store(server_));
    }
  }

  bool is_hub() const { return std::string(GetParam()) == "hub"; }
  void write(const Location& at, std::string_view content) {
    if (!is_hub()) return put_whole(stores_, at, as_bytes(content));
    hub_->push(require_hf_path(at).path, std::string(content));
    open_hub();
  }
  /// A store stays at the commit that it saw first.
  void open_hub() { stores_ = Stores().add(hub_->make_store()); }

  Location root() const {
    const std::string store = GetParam();
    if (store == "local") return folder_.path();
    return store == "memory" ? "mem://root" : store == "hub" ? "hf://datasets/o/n/root" : "s3://bucket/root";
  }

  TempFolder folder_;
  S3Server server_;
  std::optional<FakeHub> hub_;
  Stores stores_;
  const Location root_ = root();
};

TEST_P(EveryStore, HoldsWhatWasPut) {
  const Location at = root_ / "a.bin";
  EXPECT_FALSE(stores_.find(at));
  write(at, "first");
  write(at, "content");
  ASSERT_TRUE(stores_.find(at));
  EXPECT_TRUE(stores_.find(at)->is_file());
  EXPECT_EQ(stores_.find(at)->size, 7u);
  const std::shared_ptr<Source> source = stores_.open(at);
  EXPECT_EQ(source->name(), at.text());
  EXPECT_EQ(read_whole(*source), "content");
  EXPECT_EQ(read_whole(*stores_.of(at).open_for_samples(source)), "content");
}

TEST_P(EveryStore, HoldsNothingOfWhatWasNotCommitted) {
  if (is_hub()) GTEST_SKIP() << "nothing is written to a hub";
  {
    const std::unique_ptr<ObjectWriter> object = stores_.put(root_ / "a.bin");
    EXPECT_EQ(object->name(), (root_ / "a.bin").text());
    object->write(as_bytes("content"));
    EXPECT_FALSE(stores_.find(root_ / "a.bin"));
  }
  write(root_ / "b.bin", "");
  EXPECT_EQ(stores_.list(root_)->size(), 1u);
}

TEST_P(EveryStore, NamesWhatIsNotThere) {
  const Location at = root_ / "none.bin";
  for (const Error& error : {error_of([&] { stores_.open(at); }), error_of([&] { stores_.stat(at, "open"); })}) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.message(), HasSubstr(at.text()));
  }
}

TEST_P(EveryStore, ListsFoldersAndReadsTheirFiles) {
  stores_.create_folder(root_ / "class");
  write(root_ / "x.jpg", "content");
  write(root_ / ".hidden", "");
  write(root_ / "class/y.jpg", "more");
  EXPECT_TRUE(stores_.find(root_ / "class")->is_folder());
  const std::unique_ptr<Folder> folder = stores_.list(root_);
  EXPECT_EQ(folder->size(), 3u);
  folder->drop_hidden();
  folder->sort([](const Folder::Entry& a, const Folder::Entry& b) { return a.name < b.name; });
  ASSERT_EQ(folder->size(), 2u);
  EXPECT_TRUE((*folder)[0].is_folder);
  EXPECT_EQ((*folder)[1].name, "x.jpg");
  EXPECT_EQ(folder->look_at((*folder)[1].name).length, 7u);
  std::array<std::uint8_t, 3> beginning{};
  EXPECT_EQ(folder->read((*folder)[1].name, beginning), 3u);
  EXPECT_EQ(as_text(beginning), "con");

  const std::shared_ptr<Source> parts = stores_.of(root_).open_folder(root_);
  EXPECT_EQ(parts->size("class/y.jpg"), 4u);
  std::array<std::uint8_t, 4> whole{};
  read_fully(*parts, 0, whole, "class/y.jpg");
  EXPECT_EQ(as_text(whole), "more");
  EXPECT_EQ((*parts->list("class"))[0].name, "y.jpg");
  EXPECT_NE(parts->list("class")->identity(), parts->list("")->identity());
}

TEST_P(EveryStore, MatchesPatternsInOrder) {
  for (const char* name : {"c.tar", "a.tar", "b.tar", "b.txt"}) write(root_ / name, "x");
  EXPECT_THAT(stores_.of(root_).match(root_ / "[ab].tar"), ElementsAre(root_ / "a.tar", root_ / "b.tar"));
  EXPECT_TRUE(stores_.of(root_).match(root_ / "*.rec").empty());
}

TEST_P(EveryStore, TellsVersionsApart) {
  write(root_ / "a", "one");
  const ObjectFacts before = *stores_.find(root_ / "a");
  EXPECT_EQ(stores_.find(root_ / "a")->version(), before.version());
  write(root_ / "a", "two");
  EXPECT_NE(stores_.find(root_ / "a")->version(), before.version());
  EXPECT_NE(stores_.find(root_ / "a")->strict_version(), before.strict_version());
}

TEST_P(EveryStore, RemovesObjects) {
  if (is_hub()) GTEST_SKIP() << "nothing is removed from a hub";
  for (const char* name : {"a", "b"}) write(root_ / name, "content");
  for (int round = 0; round < 2; ++round) stores_.of(root_).remove(root_ / "a");
  EXPECT_FALSE(stores_.find(root_ / "a"));
  EXPECT_TRUE(stores_.find(root_ / "b"));
}

TEST_P(EveryStore, SaysWhatLiesInWhat) {
  stores_.create_folder(root_ / "in");
  EXPECT_TRUE(stores_.of(root_).lies_in(root_ / "in/out", root_ / "in"));
  EXPECT_TRUE(stores_.of(root_).lies_in(root_ / "in", root_ / "in"));
  EXPECT_FALSE(stores_.of(root_).lies_in(root_ / "inner", root_ / "in"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryStore, ::testing::Values("local", "memory", "s3", "hub"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Stores, NameTheSchemesThereAreForALocationOfAnother) {
  Stores stores;
  const Error error = error_of([&] { stores.open("s3://bucket/a.tar"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("'s3://bucket/a.tar'"), HasSubstr("plain paths")));
  stores.add(std::make_shared<MemoryStore>());
  EXPECT_THAT(error_of([&] { stores.find("s3://bucket"); }).message(), HasSubstr("'mem://'"));
}

}  // namespace
}  // namespace stoker
