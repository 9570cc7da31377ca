#include "stoker/format/manifest/manifest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string shard_of(std::initializer_list<const char*> keys) {
  std::string bytes;
  for (const char* key : keys)
    bytes += tar_member(fmt::format("{}.jpg", key), key) + tar_member(fmt::format("{}.cls", key), "1");
  return bytes + tar_end();
}

ManifestShard entry_of(const std::string& name, const std::string& bytes) {
  MemorySource source(name, {bytes.begin(), bytes.end()});
  const SampleTable table = scan_tar(source);
  return {.name = name,
          .bytes = bytes.size(),
          .hash = hash64(bytes),
          .samples = table.size(),
          .sample_bytes = table.bytes(),
          .fingerprint = table.fingerprint()};
}

/// With the checksum that belongs to the text.
std::string with_checksum(std::string text) {
  const std::size_t at = text.find("\"checksum\": \"") + 13;
  text.replace(at, 16, to_hex(0));
  text.replace(at, 16, to_hex(hash64(std::string_view(text).substr(0, text.size() - 1))));
  return text;
}

class ManifestInFolder : public ::testing::Test {
 protected:
  ManifestInFolder() {
    for (const auto& [name, bytes] : shards_) {
      folder_.write(name, bytes);
      manifest_.shards.push_back(entry_of(name, bytes));
    }
    manifest_.fields = {"jpg", "cls"};
    manifest_.classes = {"cat", "dog"};
    manifest_.job = "a job";
    folder_.write("manifest.json", manifest_.to_json());
  }
  std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const IndexOptions& options = {}) {
    return open_dataset(data, std::make_shared<InlineExecutor>(), options);
  }
  std::vector<std::string> keys(const Dataset& data) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(data.key(i));
    return all;
  }

  TempFolder folder_;
  std::vector<std::pair<std::string, std::string>> shards_ = {
      {"s-0.tar", shard_of({"a", "b"})}, {"s-1.tar", shard_of({"c"})}, {"s-2.tar", shard_of({"d", "e", "f"})}};
  Manifest manifest_;
};

TEST_F(ManifestInFolder, ReadsWhatItWrites) {
  const Manifest read = Manifest::from_json(manifest_.to_json(), "m.json");
  EXPECT_EQ(read.to_json(), manifest_.to_json());
  ASSERT_EQ(read.shards.size(), 3u);
  EXPECT_EQ(read.shards[2].samples, 3);
  EXPECT_EQ(read.shards[2].fingerprint.value(), manifest_.shards[2].fingerprint.value());
  EXPECT_EQ(read.classes, manifest_.classes);
  EXPECT_EQ(read.job, "a job");
}

TEST_F(ManifestInFolder, KeepsTheTagsOfIndexes) {
  manifest_.shards[1].index_tag = 0x123456789abcdef0;
  const Manifest read = Manifest::from_json(manifest_.to_json(), "m.json");
  EXPECT_EQ(read.shards[1].index_tag, manifest_.shards[1].index_tag);
  EXPECT_FALSE(read.shards[0].index_tag) << "not every pack says";
}

TEST_F(ManifestInFolder, KeepsTheCountsOfTokens) {
  EXPECT_FALSE(Manifest::from_json(manifest_.to_json(), "m.json").tokens);
  manifest_.tokens = {.documents = 2, .tokens = 300, .words = 40, .unknown = 5};
  const Manifest read = Manifest::from_json(manifest_.to_json(), "m.json");
  ASSERT_TRUE(read.tokens);
  EXPECT_EQ(read.tokens->documents, 2);
  EXPECT_EQ(read.tokens->tokens, 300);
  EXPECT_EQ(read.tokens->words, 40);
  EXPECT_EQ(read.tokens->unknown, 5);
}

TEST_F(ManifestInFolder, KeepsNamesThatAreNoText) {
  manifest_.classes = {"caf\xe9", "caf\xc3\xa9", "\xff\xfe", "{\"hex\": \"00\"}", ""};
  manifest_.fields = {"jpg", "\x80"};
  manifest_.bad = {{7, "caf\xe9/1", "its field '\x80' is bad"}, {9, "b", "\xf0\x9f"}};
  manifest_.concealed = 3;
  const Manifest read = Manifest::from_json(manifest_.to_json(), "m.json");
  EXPECT_EQ(read.classes, manifest_.classes);
  EXPECT_EQ(read.fields, manifest_.fields);
  ASSERT_EQ(read.bad.size(), 2u);
  EXPECT_EQ(read.bad[0].sample, 7);
  EXPECT_EQ(read.bad[0].key, manifest_.bad[0].key);
  EXPECT_EQ(read.bad[0].reason, manifest_.bad[0].reason);
  EXPECT_EQ(read.bad[1].reason, manifest_.bad[1].reason);
  EXPECT_EQ(read.concealed, 3);
  EXPECT_EQ(read.to_json(), manifest_.to_json());
}

TEST_F(ManifestInFolder, RefusesNamesThatAreNeitherTextNorBytes) {
  manifest_.classes = {"\xff"};
  const std::string good = manifest_.to_json();
  for (const char* digits : {"f", "fff", "-1", "0x", "zz"}) {
    std::string text = good;
    text.replace(text.find("\"ff\""), 4, fmt::format("\"{}\"", digits));
    EXPECT_EQ(error_of([&] { Manifest::from_json(with_checksum(text), "m.json"); }).kind(), ErrorKind::kData) << digits;
  }
}

TEST_F(ManifestInFolder, NoticesEveryFlippedBitAndTruncation) {
  const std::string good = manifest_.to_json();
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    try {
      // White space that JSON passes over may change; what it says may not.
      EXPECT_EQ(Manifest::from_json(bytes, "m.json").to_json(), good)
          << "bit " << bit << " of '" << bytes[bit / 8] << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      EXPECT_THAT(error.what(), HasSubstr("m.json"));
    }
  }
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    EXPECT_EQ(error_of([&] { Manifest::from_json(good.substr(0, length), "m.json"); }).kind(), ErrorKind::kData);
  }
}

TEST_F(ManifestInFolder, OpensADataSetWithoutTouchingItsShards) {
  // Shards whose content is gone, but not their size: opening does not notice, reading does.
  const auto before = open({folder_.path()})->fingerprint();
  folder_.write("s-1.tar", std::string(shards_[1].second.size(), 'x'));
  const auto data = open({folder_.path()});
  EXPECT_EQ(data->size(), 6);
  EXPECT_EQ(data->fingerprint(), before);
  EXPECT_THAT(data->classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(data->field_names(), ElementsAre("jpg", "cls"));
  EXPECT_EQ(data->key(1), "b");
  EXPECT_EQ(data->key(5), "f");
  EXPECT_EQ(data->label(5), 1);
  EXPECT_THAT(error_of([&] { data->key(2); }).what(), HasSubstr("s-1.tar"));
}

TEST_F(ManifestInFolder, GivesTheSameDataSetAsTheShardsAlone) {
  const auto with = open({folder_.path("s-*.tar")});
  const auto without = open({folder_.path("s-*.tar")}, {.use = false});
  EXPECT_EQ(with->fingerprint(), without->fingerprint());
  EXPECT_EQ(keys(*with), keys(*without));
  EXPECT_EQ(with->bytes(), without->bytes());
}

TEST_F(ManifestInFolder, NamesAShardThatIsMissing) {
  std::filesystem::remove(folder_.path("s-1.tar"));
  const Error error = error_of([&] { open({folder_.path()}); });
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("s-1.tar"));
}

TEST_F(ManifestInFolder, NamesAShardOfNoKindThatIsKnownWhetherItIsThereOrNot) {
  manifest_.shards[1].name = "s-1.bin";
  folder_.write("manifest.json", manifest_.to_json());
  for (const bool is_there : {false, true}) {
    if (is_there) folder_.write("s-1.bin", std::string(shards_[1].second.size(), 'x'));
    const Stores stores;
    Manifests manifests(stores);
    const Error error = error_of([&] { find_shards({folder_.path()}, stores, manifests, {}); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(), HasSubstr("s-1.bin"));
  }
}

TEST_F(ManifestInFolder, NamesAShardOfAnotherSizeWithBothSizes) {
  const std::string other = folder_.write("s-1.tar", shard_of({"x", "y"}));
  for (const bool use_index : {true, false}) {
    for (const std::string& data : {other, folder_.path(), folder_.path("*.tar")}) {
      const Error error = error_of([&] { open({data}, {.use = use_index}); });
      EXPECT_EQ(error.kind(), ErrorKind::kData) << data;
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("s-1.tar"), HasSubstr(std::to_string(std::filesystem::file_size(other))),
                        HasSubstr(std::to_string(shards_[1].second.size()))));
    }
  }
}

TEST_F(ManifestInFolder, NamesAShardOfOtherSamplesAlsoWhereNoIndexIsUsed) {
  folder_.write("s-1.tar", shard_of({"z"}));
  EXPECT_THAT(error_of([&] { open({folder_.path()}, {.use = false}); }).what(),
              AllOf(HasSubstr("s-1.tar"), HasSubstr("manifest")));
}

TEST_F(ManifestInFolder, SaysNothingOfAFolderOfLooseFilesBesideIt) {
  folder_.write("loose/eel/x.jpg", "");
  EXPECT_THAT(open({folder_.path("loose")})->classes(), ElementsAre("eel"));
}

TEST_F(ManifestInFolder, IsNotTrustedForAShardThatHoldsOtherSamples) {
  folder_.write("s-1.tar", shard_of({"z"}));
  const auto data = open({folder_.path("s-1.tar")});
  EXPECT_EQ(data->size(), 1);
  EXPECT_THAT(error_of([&] { data->key(0); }).what(), AllOf(HasSubstr("s-1.tar"), HasSubstr("manifest")));
}

TEST_F(ManifestInFolder, IsNotTrustedForMoreSamplesThanAShardHolds) {
  ManifestShard& shard = manifest_.shards[1];
  shard.fingerprint = {shard.fingerprint.value(), ++shard.samples};  // as if it were of so many
  folder_.write("manifest.json", manifest_.to_json());
  const auto data = open({folder_.path("s-1.tar")});
  EXPECT_EQ(data->size(), shard.samples);
  EXPECT_THAT(error_of([&] { data->key(shard.samples - 1); }).what(), HasSubstr("manifest"));
}

TEST_F(ManifestInFolder, GivesItsClassesToShardsThatItDoesNotKnow) {
  folder_.write("s-3.tar", shard_of({"z"}));  // added later
  EXPECT_EQ(open({folder_.path("s-3.tar")})->classes(), manifest_.classes);
  const auto data = open({folder_.path("s-3.tar"), folder_.path()});
  EXPECT_THAT(keys(*data), ElementsAre("z", "a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(data->classes(), manifest_.classes);
}

TEST_F(ManifestInFolder, MissesItInAPackThatIsNotFinished) {
  std::filesystem::remove(folder_.path("manifest.json"));
  folder_.write(".stoker-pack", "");
  for (const std::string& data : {folder_.path(), folder_.path("s-0.tar"), folder_.path("*.tar")}) {
    const Error error = error_of([&] { open({data}); });
    EXPECT_EQ(error.kind(), ErrorKind::kData) << data;
    EXPECT_THAT(error.what(), AllOf(HasSubstr(folder_.path()), HasSubstr("unfinished")));
  }
}

TEST_F(ManifestInFolder, IsNotUsedWhenItIsDamaged) {
  std::string text = manifest_.to_json();
  text.replace(text.find("\"samples\": 6"), 12, "\"samples\": 7");
  folder_.write("manifest.json", text);
  const auto data = open({folder_.path()});
  EXPECT_EQ(data->size(), 6);
  EXPECT_TRUE(data->classes().empty()) << "the shards do not name them";
}

TEST_F(ManifestInFolder, IsToldFromThoseOfOthers) {
  const auto read = [&](const std::string& text) {
    folder_.write("other/manifest.json", text);
    return Manifest::read({}, folder_.path("other"));
  };
  EXPECT_FALSE(read("{\"shards\": [\"a.tar\"]}"));
  std::string text = manifest_.to_json();
  for (const std::size_t at : {text.find("stoker-manifest"), text.find("\"fingerprint\"")}) {
    text[at + 3] ^= 1;
    EXPECT_EQ(error_of([&] { read(text); }).kind(), ErrorKind::kData);
    text[at + 3] ^= 1;
  }
  EXPECT_EQ(error_of([&] { read(""); }).kind(), ErrorKind::kData) << "it lost all of its bytes";
}

TEST_F(ManifestInFolder, RefusesAnotherVersion) {
  std::string text = manifest_.to_json();
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_THAT(error_of([&] { Manifest::from_json(with_checksum(text), "m.json"); }).what(),
              HasSubstr("another version"));
}

TEST_F(ManifestInFolder, RefusesNestingThatWouldExhaustTheStack) {
  std::string text = manifest_.to_json();
  text.insert(text.find('{') + 1, "\"x\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + ",");
  EXPECT_THAT(error_of([&] { Manifest::from_json(text, "m.json"); }).what(), HasSubstr("nested"));
}

TEST_F(ManifestInFolder, IsNotReadIntoMemoryWhateverItsLength) {
  std::filesystem::resize_file(folder_.path("manifest.json"), (std::uint64_t{1} << 30) + 1);  // a hole, mostly
  EXPECT_EQ(error_of([&] { Manifest::read({}, folder_.path()); }).kind(), ErrorKind::kLimit);
}

TEST_F(ManifestInFolder, RefusesANumberOfSamplesThatIsNotThatOfItsShards) {
  std::string text = manifest_.to_json();
  text.replace(text.find("\"samples\": 6"), 12, "\"samples\": 7");
  EXPECT_THAT(error_of([&] { Manifest::from_json(with_checksum(text), "m.json"); }).what(),
              AllOf(HasSubstr("m.json"), HasSubstr("number of its samples")));
}

// A manifest that is made to do harm has the right checksum.
TEST_F(ManifestInFolder, RefusesSizesThatAreNone) {
  const std::string good = manifest_.to_json();
  EXPECT_EQ(with_checksum(good), good);
  for (const std::string_view name : {"samples", "bytes", "sample_bytes"}) {
    for (const std::string_view value : {"-1", "1.5", "1e300", "9223372036854775808", "\"1\"", "null"}) {
      const std::string member = fmt::format("\"{}\": ", name);
      std::string text = good;
      const std::size_t at = text.find(member, text.find("\"shards\"")) + member.size();
      text.replace(at, text.find_first_of(",\n", at) - at, value);
      EXPECT_EQ(error_of([&] { Manifest::from_json(with_checksum(text), "m.json"); }).kind(), ErrorKind::kData)
          << name << " " << value;
    }
  }
  // Each is a size; their sum is none.
  for (ManifestShard& shard : manifest_.shards) shard.bytes = std::uint64_t{1} << 62;
  EXPECT_THAT(error_of([&] { Manifest::from_json(manifest_.to_json(), "m.json"); }).what(), HasSubstr("disk"));
}

TEST_F(ManifestInFolder, LeadsToNoOtherFolder) {
  for (const char* name : {"../s-0.tar", "/etc/passwd", "..", "", "a/b.tar"}) {
    Manifest wrong = manifest_;
    wrong.shards[0].name = name;
    EXPECT_THAT(error_of([&] { Manifest::from_json(wrong.to_json(), "m.json"); }).what(),
                HasSubstr("out of the folder"));
  }
}

}  // namespace
}  // namespace stoker
