#include "stoker/format/index/index_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The rows of a tar as its scan gives them, each label raised by `mark`, so that it can be told which index was used.
std::vector<std::uint8_t> marked_index(Source& shard, std::int64_t mark, std::uint64_t data_bytes) {
  const SampleTable table = scan_tar(shard);
  IndexWriter writer;
  SampleRow row;
  for (std::int64_t i = 0; i < table.size(); ++i) {
    table.read(i, row);
    row.label = mark + i;
    writer.add(row);
  }
  return writer.finish({.data_bytes = data_bytes, .content_tag = content_tag(shard, data_bytes)});
}

class IndexPlaces : public ::testing::Test {
 protected:
  static std::string samples(const std::string& content = "picture") {
    return tar_member("a.jpg", content) + tar_member("b.jpg", content);
  }
  void write_index(const std::string& path, std::int64_t mark) {
    const FileSource source(shard_, inline_);
    fs::create_directories(fs::path(path).parent_path());
    write_whole_file(path, marked_index(const_cast<FileSource&>(source), mark, source.size()));
  }
  std::string kept_scan() {
    FileSource source(shard_, inline_);
    return index_in_cache(cache_, source, Stores().stat(shard_, "look at")).text();
  }
  /// The label of the first sample tells which index it came from; -1: none.
  std::int64_t label_by(const IndexOptions& options) { return open_dataset({shard_}, inline_, options)->label(0); }

  TempFolder folder_;
  std::shared_ptr<Executor> inline_ = std::make_shared<InlineExecutor>();
  std::string shard_ = folder_.write("data/s.tar", samples() + tar_end());
  std::string cache_ = folder_.path("cache");
  std::string elsewhere_ = folder_.path("elsewhere");
};

TEST_F(IndexPlaces, AreLookedThroughInTheirOrder) {
  // The one inside comes first, since it changes the shard.
  {
    const std::string bytes = samples();
    MemorySource source("m", {bytes.begin(), bytes.end()});
    MemorySource whole("m", [&] {
      const std::string all = bytes + tar_end();
      return std::vector<std::uint8_t>(all.begin(), all.end());
    }());
    const std::vector<std::uint8_t> index = marked_index(whole, 30, bytes.size());
    folder_.write("data/s.tar", bytes + tar_member(kIndexMember, as_text(index)) + tar_end());
  }
  const IndexOptions options{.folder = elsewhere_, .cache_folder = cache_};
  EXPECT_EQ(label_by(options), 30);
  write_index(kept_scan(), 40);
  EXPECT_EQ(label_by(options), 30);
  write_index(shard_ + ".sidx", 20);
  EXPECT_EQ(label_by(options), 20);
  write_index(elsewhere_ + "/s.tar.sidx", 10);
  EXPECT_EQ(label_by(options), 10);
  EXPECT_EQ(label_by({.cache_folder = cache_}), 20);
  EXPECT_EQ(label_by({.use = false, .folder = elsewhere_, .cache_folder = cache_}), -1);
}

TEST_F(IndexPlaces, StayWhereTheyWereWhenTheProcessGoesElsewhere) {
  write_index(elsewhere_ + "/s.tar.sidx", 10);
  Manifest manifest;
  {
    const auto data = open_dataset({shard_}, inline_, {.folder = elsewhere_});
    manifest.shards.push_back({.name = "s.tar",
                               .bytes = fs::file_size(shard_),
                               .samples = data->size(),
                               .sample_bytes = data->bytes(),
                               .fingerprint = Fingerprint(data->fingerprint(), data->size())});
  }
  folder_.write("data/manifest.json", manifest.to_json());
  const int label = status_in_child([&] {
    fs::current_path(folder_.path());
    const auto data = open_dataset({"data"}, inline_, {.folder = "elsewhere"});
    fs::current_path("/");
    return static_cast<int>(data->label(0));  // a shard that a manifest lists is opened here
  });
  EXPECT_EQ(label, 10);
}

TEST_F(IndexPlaces, IncludeTheCacheWhereAScanIsKept) {
  const IndexOptions options{.cache_folder = cache_};
  const auto scanned = open_dataset({shard_}, inline_, options);
  const std::string kept = kept_scan();
  ASSERT_TRUE(fs::exists(kept));
  const auto indexed = open_dataset({shard_}, inline_, options);
  EXPECT_EQ(indexed->fingerprint(), scanned->fingerprint());
  EXPECT_EQ(indexed->key(1), "b");
  EXPECT_EQ(indexed->row(1).fields[0].offset, scanned->row(1).fields[0].offset);
  EXPECT_FALSE(indexed->row(1).fields[0].crc32c) << "a scan knows no checksums";
  write_index(kept, 40);
  EXPECT_EQ(label_by(options), 40) << "what is kept is what is used";
}

// A scan that was kept has no checksums, and its content tag looks at a part of the shard: no change may pass unseen.
TEST_F(IndexPlaces, IncludeNoScanOfAShardThatWasWrittenToSince) {
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += tar_member(fmt::format("{:03}.cls", i), "1");
  folder_.write("data/s.tar", bytes + tar_end());
  const IndexOptions options{.cache_folder = cache_};
  const auto label = [&](std::int64_t sample) { return open_dataset({shard_}, inline_, options)->label(sample); };
  FileSource before(shard_, inline_);
  const std::uint64_t tag = content_tag(before, before.size());
  const fs::file_time_type time = fs::last_write_time(shard_);
  int unnoticed = 0;
  for (std::int64_t sample = 20; sample < 180 && unnoticed < 3; ++sample) {
    std::string changed = bytes;
    changed[static_cast<std::size_t>(sample) * 1024 + 512] = '2';
    ASSERT_EQ(label(sample), 1);
    std::fstream(shard_, std::ios::in | std::ios::out | std::ios::binary) << changed;
    fs::last_write_time(shard_, time);
    FileSource after(shard_, inline_);
    if (content_tag(after, after.size()) == tag) ++unnoticed;
    EXPECT_EQ(label(sample), 2) << sample;
    std::fstream(shard_, std::ios::in | std::ios::out | std::ios::binary) << bytes;
  }
  EXPECT_EQ(unnoticed, 3) << "by the tag";
}

TEST_F(IndexPlaces, HealThemselvesInTheCache) {
  const IndexOptions options{.cache_folder = cache_};
  open_dataset({shard_}, inline_, options);
  const fs::path kept = fs::directory_iterator(cache_ + "/index")->path();
  const std::string good = read_file(kept.string());
  for (const std::size_t at : {std::size_t{20}, good.size() - 200, good.size() - 5}) {
    std::string bytes = good;
    bytes[at] ^= 1;
    write_whole_file(kept.string(), as_bytes(bytes));
    LogCapture log;
    EXPECT_EQ(open_dataset({shard_}, inline_, options)->key(1), "b");
    EXPECT_FALSE(log.lines.empty());
    EXPECT_EQ(read_file(kept.string()), good) << "made again";
  }
}

TEST_F(IndexPlaces, HoldNothingThatIsTrustedOnceTheMiddleOfTheShardHasChanged) {
  // As people make them: many members, and zeros at the end.
  std::string bytes;
  for (int i = 0; i < 60; ++i) {
    bytes +=
        tar_member(fmt::format("{:02}.jpg", i), std::string(700, 'p')) + tar_member(fmt::format("{:02}.cls", i), "1");
  }
  bytes += std::string(10240, '\0');
  folder_.write("data/s.tar", bytes);
  const IndexOptions options{.cache_folder = cache_};
  write_index(shard_ + ".sidx", 20);
  EXPECT_EQ(label_by(options), 20);
  for (std::size_t at = bytes.find("10.cls") + 512; at < bytes.size() && bytes[at] == '1'; at += 2560) bytes[at] = '2';
  folder_.write("data/s.tar", bytes);
  LogCapture log;
  EXPECT_EQ(label_by(options), 1);
  EXPECT_EQ(open_dataset({shard_}, inline_, options)->label(30), 2);
  EXPECT_FALSE(log.lines.empty());
}

TEST_F(IndexPlaces, AreDoneWithoutWhereNothingCanBeKept) {
  const std::string blocked = folder_.write("blocked", "a file where a folder should be");
  EXPECT_EQ(label_by({.cache_folder = blocked}), -1);
  EXPECT_EQ(label_by({.cache_folder = "/proc/no/such/place"}), -1);
}

TEST_F(IndexPlaces, HoldNothingThatIsTrustedOnceTheShardHasChanged) {
  write_index(shard_ + ".sidx", 20);
  EXPECT_EQ(label_by({}), 20);
  LogCapture log;
  folder_.write("data/s.tar", samples("PICTURE") + tar_end());
  EXPECT_EQ(label_by({}), -1) << "the same size, another content";
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_THAT(log.lines[0], AllOf(HasSubstr(shard_ + ".sidx"), HasSubstr("as it is now"), HasSubstr("stoker index")));
  folder_.write("data/s.tar", samples() + tar_member("c.jpg", "c") + tar_end());
  EXPECT_EQ(label_by({}), -1) << "another size";
  EXPECT_THAT(log.lines[1], HasSubstr("bytes"));
}

TEST_F(IndexPlaces, NameWhatIsDamagedOrNoIndexAtAllAndGoOn) {
  const std::string path = shard_ + ".sidx";
  write_index(path, 20);
  const std::string good = read_file(path);
  std::vector<std::pair<std::string, std::string>> broken = {{"", "is not an index"}, {"hello", "is not an index"}};
  for (const std::size_t cut : {std::size_t{1}, std::size_t{512}, good.size() - 1}) {
    broken.emplace_back(good.substr(0, good.size() - cut), "");
  }
  std::string flipped = good;
  flipped[good.size() - 30] ^= 1;
  broken.emplace_back(flipped, "damaged");
  broken.emplace_back(good.substr(0, 1024) + good, "damaged");
  for (const auto& [bytes, reason] : broken) {
    LogCapture log;
    folder_.write("data/s.tar.sidx", bytes);
    EXPECT_EQ(label_by({}), -1);
    ASSERT_EQ(log.lines.size(), 1u) << bytes.size();
    EXPECT_THAT(log.lines[0], AllOf(HasSubstr(path), HasSubstr(reason)));
  }
}

TEST_F(IndexPlaces, AreNotInATarThatIsTooSmallForThem) {
  // The trailer of an index that claims to be larger than what holds it, or as large.
  for (const std::uint64_t before : {0, 1, 2, 3, 4}) {
    for (const std::uint64_t claimed : {1, 2, 3, 4}) {
      std::vector<std::uint8_t> bytes(512 * before);
      append_trailer(bytes, {.directory_offset = 8});
      std::uint8_t* trailer = bytes.data() + bytes.size() - kIndexTrailerBytes;
      store_little_endian(trailer + 16, 512 * claimed);
      store_little_endian(trailer + 48, bytes.size() - 512 * claimed - 512);  // of data: whatever fits
      store_little_endian(trailer + 120, hash64(Bytes(trailer, 120)));
      bytes.resize(bytes.size() + 1024);
      std::string why;
      const auto place = index_in_shard(std::make_shared<MemorySource>("m.tar", bytes), why);
      EXPECT_EQ(place.has_value(), claimed < before + 1) << claimed << " of " << before;
      if (!place) {
        EXPECT_THAT(why, HasSubstr("another size"));
      }
    }
  }
}

TEST_F(IndexPlaces, AreNeverTrustedWithAnotherShardsIndex) {
  // Two shards of the same size: the tag tells them apart.
  const std::string other =
      folder_.write("data/t.tar", tar_member("c.jpg", "picture") + tar_member("d.jpg", "picture") + tar_end());
  write_index(other + ".sidx", 20);
  LogCapture log;
  const auto data = open_dataset({other}, inline_, {});
  EXPECT_EQ(data->key(0), "c");
  EXPECT_EQ(data->label(0), -1);
  EXPECT_EQ(log.lines.size(), 1u);
}

TEST_F(IndexPlaces, FindDamageInABlockWhenARowOfItIsRead) {
  const std::string path = shard_ + ".sidx";
  write_index(path, 20);
  std::string bytes = read_file(path);
  bytes[20] ^= 1;
  folder_.write("data/s.tar.sidx", bytes);
  const auto data = open_dataset({shard_}, inline_, {});
  const Error error = error_of([&] { data->row(0); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr(path), HasSubstr("damaged"), HasSubstr("stoker index"), HasSubstr("--no-index")));
}

TEST(ContentTag, DependsOnTheSizeAndBothEnds) {
  const auto tag_of = [](const std::string& bytes) {
    MemorySource source("m", {bytes.begin(), bytes.end()});
    return content_tag(source, bytes.size());
  };
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{100}, std::size_t{4096}, std::size_t{5000}, std::size_t{20000}}) {
    const std::string bytes(size, 'x');
    std::string head = bytes, tail = bytes;
    head[std::min<std::size_t>(size - 1, 4095)] = 'y';
    tail[size - std::min<std::size_t>(size, 4096)] = 'y';
    EXPECT_NE(tag_of(bytes), tag_of(head));
    EXPECT_NE(tag_of(bytes), tag_of(tail));
    EXPECT_NE(tag_of(bytes), tag_of(bytes + "x"));
  }
  EXPECT_EQ(tag_of(""), tag_of(""));
}

/// Zeros, but for a range of other bytes.
class Marked final : public Source {
 public:
  Marked(std::uint64_t size, std::uint64_t begin, std::uint64_t end) : size_(size), begin_(begin), end_(end) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view) const override { return size_; }
  void start(ReadRequest& request) override {
    std::uint64_t at = request.offset;
    for (const MutableBytes piece : request.into) {
      for (std::uint8_t& byte : piece) {
        byte = at >= begin_ && at < end_;
        ++at;
      }
    }
    request.error = nullptr;
    request.done(request);
  }

 private:
  const std::string name_ = "marked";
  const std::uint64_t size_, begin_, end_;
};

TEST(ContentTag, DependsOnSomethingOfEveryStretchBetween) {
  constexpr std::uint64_t kStretch = 1 << 20, kStretches = 64, kSize = kStretches * kStretch, kEnd = 4096;
  const auto tag_with = [](std::uint64_t begin, std::uint64_t end) {
    Marked source(kSize, begin, end);
    return content_tag(source, kSize);
  };
  const std::uint64_t tag = tag_with(0, 0);
  EXPECT_NE(tag_with(kEnd - 1, kEnd), tag);
  EXPECT_NE(tag_with(kSize - kEnd, kSize - kEnd + 1), tag);
  // The first stretch is looked at where the shard begins.
  for (std::uint64_t i = 1; i < kStretches; ++i) {
    EXPECT_NE(tag_with(i * kStretch, std::min((i + 1) * kStretch, kSize - kEnd)), tag) << i;
  }
}

}  // namespace
}  // namespace stoker
