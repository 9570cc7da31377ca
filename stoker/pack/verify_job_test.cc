#include "stoker/pack/verify_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <stop_token>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/log.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/dataset.h"
#include "stoker/format/index_writer.h"
#include "stoker/format/manifest.h"
#include "stoker/format/tar_writer.h"
#include "stoker/pack/data_info.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
      write_whole_file(path, as_bytes(bytes));
      if (!verify_shard().bad.empty()) continue;
      ++unnoticed;
      ADD_FAILURE() << "bit " << bit % 8 << " of byte " << bit / 8 << " of " << path;
    }
    write_whole_file(path, as_bytes(good));
    return unnoticed;
  }

  TempFolder folder_;
  std::string shard_ = folder_.path("out/shard-000000.tar");
  std::string good_;
};

// Every bit in the long suite; in the quick one a prime stride, so that all places within a byte come up.
std::size_t stride() { return rounds(1) > 1 ? 1 : 61; }

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
    write_whole_file(shard_, as_bytes(std::string_view(good_).substr(0, length)));
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
                                                     tar_member("hurt.mask.png", "junk") + tar_member("odd.png", png) +
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
  EXPECT_TRUE(verify_shard().bad.empty()) << "who names a shard wants to know of that one";
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

TEST(IndexJob, MakesTheSameIndexForAnyNumberOfThreadsAndOnlyOnce) {
  TempFolder folder;
  const std::string source = tiny_folder(folder, 600, 4);
  pack({source}, folder.path("packed"), {.shard_bytes = 200'000});
  // Without what Stoker adds they are shards of others.
  const auto data = open_dataset({folder.path("packed")}, std::make_shared<InlineExecutor>());
  for (const int threads : {1, 3}) {
    const std::string to = folder.path(fmt::format("indexes{}", threads));
    const IndexJobResult made = index_shards({folder.path("packed")}, {.folder = to, .threads = threads});
    EXPECT_EQ(made.shards, static_cast<std::int64_t>(data->shards().size()));
    EXPECT_EQ(made.samples, 600);
    EXPECT_EQ(index_shards({folder.path("packed")}, {.folder = to}).current, made.shards);
  }
  EXPECT_EQ(files_below(folder.path("indexes1")), files_below(folder.path("indexes3")));
  EXPECT_EQ(index_shards({folder.path("packed")}, {}).current, static_cast<std::int64_t>(data->shards().size()))
      << "packed shards have theirs inside";
  const auto indexed = open_dataset({folder.path("packed/*.tar")}, std::make_shared<InlineExecutor>(),
                                    {.folder = folder.path("indexes1")});
  EXPECT_EQ(indexed->fingerprint(), data->fingerprint());
  EXPECT_EQ(indexed->row(17).fields[0].crc32c, data->row(17).fields[0].crc32c);
}

TEST(IndexJob, MakesAnIndexAnewThatIsDamagedOrKnowsTooLittle) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string tar = folder.write("a.tar", tar_member("x.png", png) + tar_member("y.png", png) + tar_end());
  EXPECT_EQ(index_shards({tar}, {.decode = false}).shards, 1);
  EXPECT_EQ(index_shards({tar}, {.decode = false}).current, 1);
  EXPECT_EQ(index_shards({tar}, {}).shards, 1) << "it had not decoded";
  EXPECT_EQ(index_shards({tar}, {}).current, 1);
  std::string bytes = read_file(tar + ".sidx");
  bytes[30] ^= 1;
  folder.write("a.tar.sidx", bytes);
  EXPECT_EQ(index_shards({tar}, {}).shards, 1);
  folder.write("a.tar", tar_member("z.png", png) + tar_end());
  EXPECT_EQ(index_shards({tar}, {}).shards, 1) << "it was another shard's";
}

TEST(IndexJob, MakesAnIndexAnewThatKnowsNoChecksums) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string tar = folder.write("a.tar", tar_member("x.png", png) + tar_end());
  // As a scan knows the shard, if it were kept here.
  const auto shard = std::make_shared<FileSource>(tar, std::make_shared<InlineExecutor>());
  IndexWriter writer;
  SampleRow row = open_dataset({tar}, std::make_shared<InlineExecutor>())->row(0);
  row.soundness = Soundness::kClean;
  writer.add(row);
  write_whole_file(tar + ".sidx",
                   writer.finish({.data_bytes = shard->size(), .content_tag = content_tag(*shard, shard->size())}));
  EXPECT_EQ(index_shards({tar}, {}).shards, 1);
  EXPECT_TRUE(open_dataset({tar}, std::make_shared<InlineExecutor>())->row(0).fields[0].crc32c);
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

TEST(IndexJob, MakesAnIndexAnewThatIsOlderThanItsShardButNotForATimeToCome) {
  TempFolder folder;
  const std::string tar = folder.write("a.tar", tar_member("x.png", as_text(noisy_png(8, 8, 1))) + tar_end());
  index_shards({tar}, {});
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(tar + ".sidx", now - std::chrono::hours(2));
  fs::last_write_time(tar, now - std::chrono::hours(1));
  EXPECT_EQ(index_shards({tar}, {}).shards, 1);
  EXPECT_EQ(index_shards({tar}, {}).current, 1);
  fs::last_write_time(tar, now + std::chrono::hours(1000));
  EXPECT_EQ(index_shards({tar}, {}).current, 1) << "it would be older for ever";
}

TEST(IndexJob, SaysThatAnIndexsNameIsTooLongUnlessNoneIsNeeded) {
  TempFolder folder;
  const std::string name = std::string(248, 'a') + ".tar";
  const std::string tar = folder.write(name, tar_member("x.png", as_text(noisy_png(8, 8, 1))) + tar_end());
  EXPECT_THAT(error_of([&] { index_shards({tar}, {}); }).what(), AllOf(HasSubstr(tar), HasSubstr("too long")));
  pack({tar}, folder.path("out"), {});
  const std::string packed = folder.path("out/" + name);
  fs::rename(folder.path("out/shard-000000.tar"), packed);
  EXPECT_EQ(index_shards({packed}, {}).current, 1) << "its index is inside";
}

TEST(IndexJob, WarnsOfReplacingAnIndexThatIsOfAnotherShardOfThatName) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1))), to = folder.path("indexes");
  const std::string a = folder.write("a/0.tar", tar_member("x.png", png) + tar_end());
  const std::string b = folder.write("b/0.tar", tar_member("y.png", png) + tar_end());
  std::vector<std::string> said;
  set_log_sink([&](LogLevel, std::string_view message) { said.emplace_back(message); }, LogLevel::kWarning);
  const auto index = [&](const std::string& shard) { EXPECT_EQ(index_shards({shard}, {.folder = to}).shards, 1); };
  index(a);
  EXPECT_THAT(said, IsEmpty());
  index(b);
  EXPECT_THAT(said, ElementsAre(AllOf(HasSubstr("'" + to + "/0.tar.sidx'"), HasSubstr("'" + b + "'"))));
  said.clear();
  folder.write("indexes/0.tar.sidx", "damaged");
  index(a);
  EXPECT_EQ(index_shards({a}, {.folder = to, .decode = false}).current, 1);
  EXPECT_EQ(index_shards({a}, {.decode = false}).shards, 1);
  EXPECT_EQ(index_shards({a}, {}).shards, 1) << "its own, which knew less";
  folder.write("a/0.tar", tar_member("y.png", png) + tar_end());
  EXPECT_EQ(index_shards({a}, {}).shards, 1) << "that of the shard beside it, which was changed";
  set_log_sink(nullptr);
  EXPECT_THAT(said, IsEmpty());
}

TEST(IndexJob, SaysFirstHowMuchAnEarlierCallDid) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1))), one = tar_member("x.png", png) + tar_end();
  std::vector<std::string> tars;
  for (const char* name : {"a.tar", "b.tar", "c.tar"}) tars.push_back(folder.write(name, one));
  index_shards({tars[1]}, {});
  std::vector<std::uint64_t> told;
  IndexJobOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    told.push_back(done);
    EXPECT_EQ(total, 4 * one.size());
  };
  const IndexJobResult result = index_shards({tars[0], tars[1], tars[2], tars[2]}, options);
  EXPECT_EQ(result.shards, 2);
  EXPECT_EQ(result.current, 2) << "one that had its index, and one that is named twice";
  EXPECT_EQ(told.front(), 2 * one.size());
  EXPECT_EQ(told.back(), 4 * one.size());
}

TEST(IndexJob, ListsBadSamplesAndKeepsTheirRows) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string cut = png.substr(0, png.size() - 20);  // its header is whole
  std::vector<std::uint8_t> huge = noisy_jpeg(8, 8, 1);
  for (std::size_t i = 2; i + 8 < huge.size(); ++i) {  // its header claims 65,500 x 65,500 pixels
    if (huge[i] == 0xff && huge[i + 1] == 0xc0) huge[i + 5] = huge[i + 7] = 0xff, huge[i + 6] = huge[i + 8] = 0xdc;
  }
  const std::string tar = folder.write("a.tar", tar_member("x.png", png) + tar_member("bad.png", "no picture") +
                                                    tar_member("y.json", "{}") + tar_member("cut.png", cut) +
                                                    tar_member("huge.jpg", as_text(huge)) +
                                                    tar_member("hurt.jpg", as_text(hurt_jpeg())) + tar_end());
  const IndexJobResult result = index_shards({tar}, {});
  EXPECT_EQ(result.samples, 6);
  EXPECT_EQ(result.concealed, 1);
  ASSERT_EQ(result.bad.size(), 3u);
  EXPECT_EQ(result.bad[0].key, "bad");
  EXPECT_EQ(result.bad[1].key, "cut");
  EXPECT_EQ(result.bad[2].key, "huge");
  EXPECT_THAT(result.bad[2].reason, HasSubstr("limit"));
  const auto data = open_dataset({tar}, std::make_shared<InlineExecutor>());
  EXPECT_EQ(data->row(0).soundness, Soundness::kClean);
  EXPECT_EQ(data->row(1).soundness, Soundness::kBad);
  EXPECT_FALSE(data->row(1).facts);
  EXPECT_EQ(data->row(2).soundness, Soundness::kClean);
  for (const std::int64_t bad : {3, 4}) {
    EXPECT_EQ(data->row(bad).soundness, Soundness::kBad);
    EXPECT_FALSE(data->row(bad).facts) << "nobody is to plan with those of what is no picture";
  }
  EXPECT_EQ(data->row(5).soundness, Soundness::kConcealed);
  EXPECT_TRUE(data->row(5).facts);
}

TEST(IndexJob, GoesOnAfterShardsThatAreBroken) {
  TempFolder folder;
  const std::string bad = tar_member("x.png", "no picture"), good = tar_member("x.png", as_text(noisy_png(8, 8, 1)));
  const std::string a = folder.write("a.tar", bad + good.substr(0, 600)), b = folder.write("b.tar", good + tar_end()),
                    c = folder.write("c.tar", std::string(2000, 'x')), d = folder.write("d.tar", bad + tar_end());
  std::uint64_t done = 0, total = 1;
  IndexJobOptions options;
  options.progress = [&](std::uint64_t now, std::uint64_t all) {
    done = now;
    total = all;
  };
  const IndexJobResult result = index_shards({a, b, c, d}, options);
  EXPECT_EQ(result.shards, 2);
  EXPECT_EQ(result.samples, 2);
  ASSERT_EQ(result.bad.size(), 1u) << "of a broken shard the shard is told, and not what was found before it broke";
  EXPECT_EQ(result.bad[0].shard, d);
  ASSERT_EQ(result.broken.size(), 2u);
  EXPECT_EQ(result.broken[0].shard, a);
  EXPECT_THAT(result.broken[0].reason, HasSubstr(a));
  EXPECT_EQ(result.broken[1].shard, c);
  EXPECT_EQ(done, total);
  EXPECT_TRUE(fs::exists(b + ".sidx"));
  EXPECT_FALSE(fs::exists(a + ".sidx"));
  EXPECT_EQ(files_below(folder.path()).size(), 6u) << "nothing half-written";
  EXPECT_EQ(index_shards({a, b, c, d}, {}).current, 2);
}

TEST(IndexJob, StopsWhereItCannotWrite) {
  TempFolder folder;
  const std::string good = tar_member("x.png", as_text(noisy_png(8, 8, 1))) + tar_end();
  const std::string a = folder.write("a.tar", good), b = folder.write("b.tar", good);
  fs::create_directories(a + ".sidx.partial");
  EXPECT_EQ(error_of([&] { index_shards({a, b}, {}); }).kind(), ErrorKind::kIo);
  EXPECT_FALSE(fs::exists(b + ".sidx"));
}

TEST(IndexJob, WorksForNoSamplesAndForOne) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string none = folder.write("none.tar", tar_end()),
                    one = folder.write("one.tar", tar_member("x.png", png) + tar_end());
  EXPECT_EQ(index_shards({none, one}, {}).samples, 1);
  EXPECT_EQ(open_dataset({none}, std::make_shared<InlineExecutor>())->size(), 0);
  EXPECT_EQ(open_dataset({none, one}, std::make_shared<InlineExecutor>())->size(), 1);
  EXPECT_TRUE(verify({none, one}, {}).bad.empty());
}

TEST(IndexJob, RefusesWhatHasNoIndexOrOnePlaceForTwo) {
  TempFolder folder;
  EXPECT_THAT(error_of([&] { index_shards({tiny_folder(folder, 2, 1)}, {}); }).what(), HasSubstr("stoker pack"));
  const std::string a = folder.write("a/0.tar", tar_end()), b = folder.write("b/0.tar", tar_end());
  const Error error = error_of([&] { index_shards({a, b}, {.folder = folder.path("out")}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr(a), HasSubstr(b)));
}

}  // namespace
}  // namespace stoker
