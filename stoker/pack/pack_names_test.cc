// What pack makes of names: of samples' keys, and of fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Dataset> open(const std::string& path, const IndexOptions& index = {}) {
  return open_dataset({path}, std::make_shared<InlineExecutor>(), index);
}

std::string read_field(const SampleRow& row, std::string_view name) {
  const SampleField& field = *row.find(name);
  std::string bytes(field.length, '\0');
  read_fully(*row.source, field.offset, MutableBytes(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()),
             field.part);
  return bytes;
}

std::vector<std::string> keys(const Dataset& data) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(data.key(i));
  return all;
}

class PackNames : public ::testing::Test {
 protected:
  TempFolder folder_;
};

TEST_F(PackNames, RefusesKeysThatReadersPassOver) {
  TempFolder other;
  other.write("in/__x__/a.png", as_text(noisy_png(8, 8, 1)));
  other.write("in/y/b.png", as_text(noisy_png(8, 8, 1)));
  const Error error = error_of([&] { pack({other.path("in")}, other.path("out"), {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("__x__/a"), HasSubstr("underscores")));
  fs::rename(other.path("in/__x__"), other.path("in/__x"));
  EXPECT_EQ(pack({other.path("in")}, other.path("out2"), {}).samples, 2);
}

TEST_F(PackNames, SeparatesNeighboursOfOneKey) {
  const std::string png(as_text(noisy_png(8, 8, 1)));
  for (const char* name : {"a.tar", "b.tar"}) folder_.write(name, tar_member("same.png", png) + tar_end());
  const PackResult result = pack({folder_.path("a.tar"), folder_.path("b.tar")}, folder_.path("out"), {});
  EXPECT_EQ(result.shards, 2);
  EXPECT_EQ(open(folder_.path("out") + "/*.tar", {.use = false})->size(), 2);
}

TEST_F(PackNames, KeepsOtherFieldsAndStrangeNamesWithinTheTar) {
  const std::string png(as_text(noisy_png(8, 8, 1)));
  folder_.write("in.tar", tar_member("..up/a...b/.png/up.png", png) + tar_member("..up/a...b/.png/up.json", "{}") +
                              tar_member("./rel/ative.png", png) + tar_member("l.png", "", '2', "/etc/passwd") +
                              tar_member("d.x.png", png) + tar_end());
  pack({folder_.path("in.tar")}, folder_.path("deep/er/out"), {});
  const auto out = open(folder_.path("deep/er/out"));
  EXPECT_THAT(keys(*out), ElementsAre("..up/a...b/.png/up", "rel/ative", "d"));
  EXPECT_EQ(read_field(out->row(0), "json"), "{}");
  EXPECT_EQ(out->row(2).image_field()->name, "x.png");
  EXPECT_EQ(files_below(folder_.path("deep")).size(), 2u);
}

TEST_F(PackNames, RefusesNamesThatLeadOutOfTheFolderTheyAreExtractedInto) {
  const std::string png(as_text(noisy_png(8, 8, 1)));
  for (const char* key : {"../../up", "/abs/olute", "a/../b", "a/b/../../../c", "..", "//x"}) {
    folder_.write("in.tar", tar_member("good.png", png) + tar_member(fmt::format("{}/x.png", key), png) + tar_end());
    const Error error = error_of([&] { pack({folder_.path("in.tar")}, folder_.path("out"), {}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << key;
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr(folder_.path("in.tar")), HasSubstr(fmt::format("'{}/x'", key)), HasSubstr("extracts")));
    fs::remove_all(folder_.path("out"));
  }
}

TEST_F(PackNames, RefusesKeysThatReadersOfTarsWouldSplitElsewhere) {
  const auto refusal = [&](const std::string& key) {
    const std::vector<std::uint8_t> jpg = noisy_jpeg(8, 8, 1);
    ExampleBuilder example;
    example.add_bytes("__key__", {as_bytes(key)});
    example.add_bytes("image", {jpg});
    TfRecordWriter file(std::make_unique<AtomicFile>(folder_.path("in.tfrecord")));
    file.add(example.message());
    file.finish();
    const Error error = error_of([&] { pack({folder_.path("in.tfrecord")}, folder_.path("out"), {}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << key;
    EXPECT_FALSE(fs::exists(folder_.path("out")));
    EXPECT_EQ(pack({folder_.path("in.tfrecord")}, folder_.path("mds"), {.format = &writable_format("mds")}).samples, 1);
    fs::remove_all(folder_.path("mds"));
    return std::string(error.what());
  };
  EXPECT_THAT(refusal("n1/img.1"), AllOf(HasSubstr("its key is 'n1/img.1'"), HasSubstr("would find 'n1/img'")));
  EXPECT_THAT(refusal(std::string("a\0b", 3)), HasSubstr("would find none"));
  EXPECT_THAT(refusal("n1/"), HasSubstr("would find none"));
  EXPECT_THAT(refusal("./a"), HasSubstr("would find 'a'"));
}

TEST_F(PackNames, RefusesFieldsThatCannotBeMembersOfATar) {
  const WritableFormat& tar = writable_format("tar");
  const auto refusal = [&](std::string_view name) {
    SampleRow row;
    row.key = "a";
    row.fields.push_back({.name = name, .part = {}});
    const Error error = error_of([&] { tar.require_fits(row); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << name;
    return error.message();
  };
  EXPECT_THAT(refusal("/../../up.jpg"), HasSubstr("a slash"));
  EXPECT_THAT(refusal(std::string_view("jpg\0", 4)), HasSubstr("a zero byte"));
  EXPECT_THAT(refusal(""), HasSubstr("or none"));
}

TEST_F(PackNames, KeepsTheKeysOfImagesThatShareTheirNamesUpToTheFirstDot) {
  TempFolder other;
  const std::vector<std::string> names = {"a/cd.1.png", "a/cd.2.png", "a/flower.png", "a/flower.jpg",    "a/x-1.png",
                                          "a/x.png",    "a/x.PNG",    "b/c.d.e.png",  "b/\xc3\xa9.1.png"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    other.write("in/" + names[i], as_text(names[i].ends_with("jpg") ? noisy_jpeg(8, 8, i) : noisy_png(8, 8, i)));
  }
  other.write("in/a/cd.1.json", "{}");
  pack({other.path("in")}, other.path("out"), {});
  const auto loose = open(other.path("in"));
  ASSERT_EQ(loose->size(), 9);
  for (const bool use_index : {true, false}) {
    const auto packed = open(other.path("out"), {.use = use_index});
    EXPECT_EQ(packed->fingerprint(), loose->fingerprint()) << use_index;
    ASSERT_EQ(keys(*packed), keys(*loose)) << use_index;
    for (std::int64_t i = 0; i < loose->size(); ++i) {
      const std::string name(loose->row(i).image_field()->name);
      EXPECT_EQ(read_field(packed->row(i), name), read_field(loose->row(i), name)) << loose->key(i);
    }
    EXPECT_EQ(read_field(packed->row(0), "json"), "{}");
  }
}

}  // namespace
}  // namespace stoker
