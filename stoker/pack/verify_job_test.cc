#include "stoker/pack/verify_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <fstream>
#include <functional>
#include <stop_token>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/data_info.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// In place, and without waiting for the disk as write_whole_file() does: some tests do so thousands of times.
void overwrite(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

class Verify : public ::testing::Test {
 protected:
  Verify() {
    pack({tiny_folder(folder_, 3, 1)}, folder_.path("out"), {});
    good_ = read_file(shard_);
  }
  VerifyResult verify_shard() { return verify({shard_}, {.threads = 1}); }

  /// How many bits of a file can be flipped without verify() finding it, of every `stride`-th.
  int unnoticed_flips(const std::string& path, std::size_t stride) {
    const std::string good = read_file(path);
    int unnoticed = 0;
    for (std::size_t bit = 0; bit < 8 * good.size(); bit += stride) {
      std::string bytes = good;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      overwrite(path, bytes);
      if (!verify_shard().bad.empty()) continue;
      ++unnoticed;
      ADD_FAILURE() << "bit " << bit % 8 << " of byte " << bit / 8 << " of " << path;
    }
    overwrite(path, good);
    return unnoticed;
  }

  TempFolder folder_;
  std::string shard_ = folder_.path("out/shard-000000.tar");
  std::string good_;
};

// Every bit in the long suite; in the quick ones a prime stride, so that all places within a byte come up.
std::size_t stride() {
  if (kSanitized) return 1009;
  return rounds(1) > 1 ? 1 : 61;
}

TEST_F(Verify, FindsNothingWhereNothingIsWrong) {
  const VerifyResult result = verify({folder_.path("out")}, {});
  EXPECT_EQ(result.samples, 3);
  EXPECT_EQ(result.shards, 1);
  EXPECT_EQ(result.indexed, 1);
  EXPECT_TRUE(result.bad.empty());
  EXPECT_TRUE(result.concealed.empty());
}

TEST_F(Verify, FindsEveryFlippedBitOfAPackedShard) { EXPECT_EQ(unnoticed_flips(shard_, stride()), 0); }

TEST_F(Verify, FindsEveryFlippedBitOfAPackedShardWithoutAManifest) {
  fs::remove(folder_.path("out/manifest.json"));
  EXPECT_EQ(unnoticed_flips(shard_, stride()), 0);
}

TEST_F(Verify, FindsEveryFlippedBitOfAnIndexOfItsOwn) {
  // A shard of others: a tar without an index inside.
  const auto data = open_dataset({shard_}, std::make_shared<InlineExecutor>());
  TarWriter writer(folder_.path("foreign.tar"));
  for (std::int64_t i = 0; i < data->size(); ++i) {
    const SampleRow row = data->row(i);
    std::vector<std::uint8_t> bytes(row.fields[0].length);
    read_fully(*row.source, row.fields[0].offset, bytes);
    writer.add(row.key + ".png", bytes);
  }
  writer.finish();
  shard_ = folder_.path("foreign.tar");
  index_shards({shard_}, {.threads = 1});
  EXPECT_TRUE(verify_shard().bad.empty());
  EXPECT_EQ(unnoticed_flips(shard_ + ".sidx", stride()), 0);
}

TEST_F(Verify, FindsEveryTruncation) {
  for (std::size_t length = 0; length < good_.size(); length += stride()) {
    overwrite(shard_, std::string_view(good_).substr(0, length));
    const VerifyResult result = verify_shard();
    ASSERT_FALSE(result.bad.empty()) << length;
    EXPECT_EQ(result.bad[0].shard, shard_);
  }
}

TEST_F(Verify, NamesTheSampleThatIsDamaged) {
  const auto data = open_dataset({shard_}, std::make_shared<InlineExecutor>());
  const SampleField field = data->row(1).fields[0];
  std::string bytes = good_;
  bytes[field.offset + field.length / 2] ^= 1;
  write_whole_file(shard_, as_bytes(bytes));
  const VerifyResult result = verify_shard();
  ASSERT_EQ(result.bad.size(), 1u) << "the shard as a whole is not named on top";
  EXPECT_EQ(result.bad[0].key, data->key(1));
  EXPECT_EQ(result.bad[0].offset, field.offset);
  EXPECT_THAT(result.bad[0].reason, AllOf(HasSubstr("checksum"), HasSubstr("'png'")));
}

TEST_F(Verify, NamesTheFieldThatIsDamagedWhicheverItIs) {
  const auto data = open_dataset({shard_}, std::make_shared<InlineExecutor>());
  const SampleRow row = data->row(1);
  ASSERT_EQ(row.fields.size(), 2u);
  for (const SampleField& field : row.fields) {
    std::string bytes = good_;
    bytes[field.offset] ^= 1;
    write_whole_file(shard_, as_bytes(bytes));
    const VerifyResult result = verify_shard();
    ASSERT_EQ(result.bad.size(), 1u) << field.name;
    EXPECT_EQ(result.bad[0].key, data->key(1));
    EXPECT_THAT(result.bad[0].reason, AllOf(HasSubstr("checksum"), HasSubstr(fmt::format("'{}'", field.name))));
  }
}

TEST_F(Verify, FindsDamageBetweenTheSamples) {
  std::string bytes = good_;
  bytes[300] ^= 1;  // padding of the first member's header, which no checksum of tar's covers: its user name
  write_whole_file(shard_, as_bytes(bytes));
  EXPECT_FALSE(verify_shard().bad.empty());
}

TEST_F(Verify, GoesOnAfterAShardThatCannotBeOpened) {
  pack({tiny_folder(folder_, 3, 1, "more")}, folder_.path("two"), {.shard_bytes = 1});
  folder_.write("two/shard-000001.tar", std::string(read_file(folder_.path("two/shard-000001.tar")).size(), 'x'));
  const VerifyResult result = verify({folder_.path("two")}, {});
  EXPECT_EQ(result.samples, 2);
  ASSERT_FALSE(result.bad.empty());
  EXPECT_THAT(result.bad[0].shard, HasSubstr("shard-000001.tar"));
}

TEST_F(Verify, GoesOnAfterAFileThatIsTooLarge) {
  const std::string loose = tiny_folder(folder_, 3, 1, "more");
  const std::string huge = folder_.write("more/a/a.png", "");
  fs::resize_file(huge, std::uint64_t{1} << 40);  // a hole
  const VerifyResult result = verify({loose}, {});
  EXPECT_EQ(result.samples, 4);
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].key, "a/a");
  EXPECT_THAT(result.bad[0].reason, HasSubstr("1.10 TB"));
  const DataInfo info = data_info({loose}, {});
  EXPECT_EQ(info.samples, 4);
  EXPECT_EQ(info.images, 3);
  ASSERT_EQ(info.problems.size(), 1u);
  EXPECT_THAT(info.problems[0], AllOf(HasSubstr("'a/a'"), HasSubstr("1.10 TB")));
}

TEST_F(Verify, TellsConcealedImagesFromBadOnes) {
  folder_.write("in/good.jpg", as_text(noisy_jpeg(64, 64, 1)));
  folder_.write("in/hurt.jpg", as_text(hurt_jpeg()));
  folder_.write("in/none.jpg", "no picture");
  const VerifyResult result = verify({folder_.path("in")}, {});
  ASSERT_EQ(result.concealed.size(), 1u);
  EXPECT_EQ(result.concealed[0].key, "hurt");
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].key, "none");
}

TEST_F(Verify, LooksAtEveryImageOfASampleAndAtItsClass) {
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string tar = folder_.write("a.tar", tar_member("good.png", png) + tar_member("good.mask.png", png) +
                                                     tar_member("good.cls", "1") + tar_member("hurt.png", png) +
                                                     tar_member("hurt.mask.png", "junk") + tar_member("none.png", png) +
                                                     tar_member("none.cls", "-1") + tar_member("odd.png", png) +
                                                     tar_member("odd.cls", "cat") + tar_end());
  for (const bool indexed : {false, true}) {
    if (indexed) index_shards({tar}, {});
    const VerifyResult result = verify({tar}, {});
    ASSERT_EQ(result.bad.size(), 2u);
    EXPECT_EQ(result.bad[0].key, "hurt");
    EXPECT_THAT(result.bad[0].reason, HasSubstr("'mask.png'"));
    EXPECT_EQ(result.bad[1].key, "odd");
    EXPECT_THAT(result.bad[1].reason, HasSubstr("'cat', not a class number"));
  }
}

TEST_F(Verify, NamesSamplesOfAListThatRepeatAKey) {
  folder_.write("in/a.png", noisy_png(8, 8, 1));
  folder_.write("in/b.png", noisy_png(8, 8, 2));
  const std::string list = folder_.write("in/list.csv", "path,label\na.png,1\nb.png,2\na.png,1\n");
  const VerifyResult result = verify({list}, {});
  EXPECT_EQ(result.samples, 3);
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].key, "a");
  EXPECT_THAT(result.bad[0].reason, HasSubstr("sample 0 of the list has the same key"));
}

TEST_F(Verify, KnowsChosenFieldsFromAllShards) {
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string without = folder_.write("a.tar", tar_member("a.png", png) + tar_end());
  const std::string with =
      folder_.write("b.tar", tar_member("b.photo.png", png) + tar_member("b.kind", "1") + tar_end());
  const std::string empty = folder_.write("c.tar", tar_end());
  VerifyOptions options;
  options.fields = {.image = "photo", .label = "kind"};
  const VerifyResult result = verify({empty, without, with}, options);
  ASSERT_EQ(result.bad.size(), 1u) << "a sample without the chosen field has no image";
  EXPECT_EQ(result.bad[0].key, "a");
  EXPECT_TRUE(verify({empty}, options).bad.empty());
  options.fields.label = "colour";
  const Error error = error_of([&] { verify({empty, without, with}, options); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("'colour'"), HasSubstr("'png', 'photo.png', 'kind'")));
}

TEST_F(Verify, NamesTarsThatTheManifestDoesNotList) {
  folder_.write("out/b.tar", tar_end());
  folder_.write("out/a.TAR", tar_end());
  folder_.write("out/notes.txt", "");
  folder_.write("list.txt", "out\n");
  for (const char* data : {"out", "o*", "list.txt"}) {
    const VerifyResult result = verify({folder_.path(data)}, {});
    ASSERT_EQ(result.bad.size(), 2u) << data;
    EXPECT_EQ(result.bad[0].shard, folder_.path("out/a.TAR"));
    EXPECT_THAT(result.bad[0].reason, HasSubstr("not in the manifest"));
    EXPECT_EQ(result.bad[1].shard, folder_.path("out/b.tar"));
    EXPECT_EQ(result.samples, 3) << "they are not part of the data set";
  }
  EXPECT_TRUE(verify_shard().bad.empty()) << "a call that names a shard asks about that one";
}

TEST_F(Verify, NamesAShardThatIsWholeButNotTheOneThatTheManifestLists) {
  pack({tiny_folder(folder_, 2, 1, "more")}, folder_.path("others"), {});
  const std::string other = read_file(folder_.path("others/shard-000000.tar"));
  write_whole_file(shard_, as_bytes(other));
  for (const std::string& data : {shard_, folder_.path("out")}) {
    const VerifyResult result = verify({data}, {.threads = 1});
    ASSERT_EQ(result.bad.size(), 1u) << data;
    EXPECT_EQ(result.bad[0].shard, shard_);
    EXPECT_THAT(result.bad[0].reason, AllOf(HasSubstr("manifest"), HasSubstr(fmt::format("{} bytes", other.size()))));
    EXPECT_EQ(result.samples, 2);
  }
  const std::string added = folder_.write("out/added.tar", other);
  const VerifyResult result = verify({added}, {.threads = 1});
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_THAT(result.bad[0].reason, HasSubstr("not in the manifest"));
}

TEST_F(Verify, NamesAStaleIndex) {
  write_whole_file(shard_ + ".sidx", as_bytes("old"));
  const VerifyResult result = verify_shard();
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_THAT(result.bad[0].reason, HasSubstr(".sidx"));
  EXPECT_EQ(result.samples, 3);
}

/// From now on the process gets no thread, whose stacks would be larger than all addresses.
void refuse_threads() {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 60);
  ::pthread_setattr_default_np(&attributes);
}

/// From now on it gets no descriptor beyond those that it has, and `more`.
void refuse_descriptors(int more) {
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const FileDescriptor next(::dup(STDERR_FILENO));
  limit.rlim_cur = static_cast<rlim_t>(next.get() + more);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(Verify, DoesNotTakeTheMachinesFaultsForTheDatas) {
  const std::string loose = tiny_folder(folder_, 3, 1, "more");
  const std::string tar = folder_.write("a.tar", tar_member("x.png", as_text(noisy_png(8, 8, 1))) + tar_end());
  const std::vector<std::function<void()>> refusals = {refuse_threads, [] { refuse_descriptors(0); },
                                                       [] { refuse_descriptors(1); }};
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    const auto status = [&](const std::function<void()>& job) {
      return status_in_child([&] {
        refusals[i]();
        const Error error = error_of(job);
        return error.kind() == ErrorKind::kMemory ? 0 : 1;
      });
    };
    EXPECT_EQ(status([&] { verify({loose}, {}); }), 0) << i;
    EXPECT_EQ(status([&] { data_info({loose}, {}); }), 0) << i;
    if (i == 2) continue;  // a tar needs no second descriptor
    EXPECT_EQ(status([&] { verify({tar}, {}); }), 0) << i;
    EXPECT_EQ(status([&] { data_info({tar}, {}); }), 0) << i;
  }
}

std::stop_token stopped() {
  std::stop_source stop;
  stop.request_stop();
  return stop.get_token();
}

// Other tests stop jobs while samples are read; here there is nothing to read.
TEST_F(Verify, StopsBeforeItOpensShards) {
  const std::string none = folder_.write("none.tar", tar_end());
  EXPECT_EQ(error_of([&] { verify({none}, {.stop = stopped()}); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(error_of([&] { index_shards({none}, {.stop = stopped()}); }).kind(), ErrorKind::kClosed);
  EXPECT_FALSE(fs::exists(none + ".sidx"));
  EXPECT_EQ(error_of([&] { data_info({none}, {.stop = stopped()}); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(error_of([&] { pack({none}, folder_.path("none"), {.stop = stopped()}); }).kind(), ErrorKind::kClosed);
  EXPECT_FALSE(fs::exists(folder_.path("none")));
}

TEST_F(Verify, SaysHowFarItCameWhenItIsStopped) {
  std::stop_source stop;
  VerifyOptions options{.threads = 1, .stop = stop.get_token()};
  const std::uint64_t all = open_dataset({shard_}, std::make_shared<InlineExecutor>())->bytes();
  options.progress = [&](std::uint64_t done, std::uint64_t) {
    if (done == all) stop.request_stop();
  };
  const Error error = error_of([&] { verify({shard_}, options); });
  EXPECT_EQ(error.kind(), ErrorKind::kClosed);
  EXPECT_THAT(error.what(), HasSubstr("stopped after 3 samples"));
}

TEST_F(Verify, IsContentWithTheIndexThatIsMadeAnewBesideAPackedShard) {
  for (const bool stale : {true, false}) {
    const std::string index = shard_ + ".sidx";
    index_shards({shard_}, {.folder = folder_.path("apart")});
    std::string bytes = read_file(folder_.path("apart/shard-000000.tar.sidx"));
    bytes[bytes.size() / 2] ^= 1;
    write_whole_file(index, as_bytes(stale ? "old" : bytes));
    EXPECT_FALSE(verify_shard().bad.empty());
    EXPECT_EQ(index_shards({shard_}, {}).shards, 1) << "the index inside is good, but not the first to be met";
    EXPECT_TRUE(verify_shard().bad.empty());
    EXPECT_EQ(index_shards({shard_}, {}).current, 1);
  }
}

}  // namespace
}  // namespace stoker
