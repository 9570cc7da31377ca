#include "stoker/pack/index_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/pack/verify_job.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/local_store_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST(IndexJob, ListsSamplesWithoutFieldsAsBad) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1)));
  folder.write("in.tar", tar_member("a.png", png) + tar_member("a.cls", "1") + tar_member("b.cls", "2") +
                             tar_member("c.png", png) + tar_member("c.cls", "1") + tar_end());
  pack({folder.path("in.tar")}, folder.path("out"),
       {.format = &writable_format("parquet"), .bad = BadSamplePolicy::kKeep});
  const IndexJobResult made =
      index_shards({folder.path("out/shard-000000.parquet")}, {.folder = folder.path("indexes")});
  EXPECT_EQ(made.samples, 3);
  ASSERT_EQ(made.bad.size(), 1u);
  EXPECT_EQ(made.bad[0].key, "b");
  EXPECT_EQ(made.bad[0].reason, "it has no fields");
  const auto data = open_dataset({folder.path("out/shard-000000.parquet")}, std::make_shared<InlineExecutor>(),
                                 {.folder = folder.path("indexes")});
  EXPECT_EQ(data->label(1), 2);
  EXPECT_TRUE(data->row(1).fields.empty());
}

TEST(IndexJob, MakesAnIndexAnewThatKnowsNoChecksums) {
  TempFolder folder;
  const std::string png(as_text(noisy_png(8, 8, 1)));
  const std::string tar = folder.write("a.tar", tar_member("x.png", png) + tar_end());
  // As a scan knows the shard, if it were kept here.
  const auto shard = std::make_shared<FileSource>(tar, std::make_shared<InlineExecutor>());
  IndexWriter writer;
  const auto data = open_dataset({tar}, std::make_shared<InlineExecutor>());
  SampleRow row = data->row(0);
  row.soundness = Soundness::kClean;
  writer.add(row);
  write_whole_file(tar + ".sidx",
                   writer.finish({.data_bytes = shard->size(), .content_tag = content_tag(*shard, shard->size())}));
  EXPECT_EQ(index_shards({tar}, {}).shards, 1);
  EXPECT_TRUE(open_dataset({tar}, std::make_shared<InlineExecutor>())->row(0).fields[0].crc32c);
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
  LogCapture log;
  const auto index = [&](const std::string& shard) { EXPECT_EQ(index_shards({shard}, {.folder = to}).shards, 1); };
  index(a);
  EXPECT_THAT(log.lines, IsEmpty());
  index(b);
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("'" + to + "/0.tar.sidx'"), HasSubstr("'" + b + "'"))));
  log.lines.clear();
  folder.write("indexes/0.tar.sidx", "damaged");
  index(a);
  EXPECT_EQ(index_shards({a}, {.folder = to, .decode = false}).current, 1);
  EXPECT_EQ(index_shards({a}, {.decode = false}).shards, 1);
  EXPECT_EQ(index_shards({a}, {}).shards, 1) << "its own, which knew less";
  folder.write("a/0.tar", tar_member("y.png", png) + tar_end());
  EXPECT_EQ(index_shards({a}, {}).shards, 1) << "that of the shard beside it, which was changed";
  EXPECT_THAT(log.lines, IsEmpty());
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
  ASSERT_EQ(result.bad.size(), 4u);
  EXPECT_EQ(result.bad[0].key, "bad");
  EXPECT_EQ(result.bad[1].key, "y");
  EXPECT_THAT(result.bad[1].reason, HasSubstr("no image"));
  EXPECT_EQ(result.bad[2].key, "cut");
  EXPECT_EQ(result.bad[3].key, "huge");
  EXPECT_THAT(result.bad[3].reason, HasSubstr("limit"));
  const auto data = open_dataset({tar}, std::make_shared<InlineExecutor>());
  EXPECT_EQ(data->row(0).soundness, Soundness::kClean);
  EXPECT_EQ(data->row(1).soundness, Soundness::kBad);
  EXPECT_FALSE(data->row(1).facts);
  for (const std::int64_t bad : {2, 3, 4}) {
    EXPECT_EQ(data->row(bad).soundness, Soundness::kBad);
    EXPECT_FALSE(data->row(bad).facts) << "facts of what is not a picture are not for planning";
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

TEST(IndexJob, GoesOnAfterAShardThatItMayNotOpen) {
  TempFolder folder;
  const std::string good = tar_member("x.png", as_text(noisy_png(8, 8, 1))) + tar_end();
  std::vector<std::string> shards;
  for (const char* name : {"s0.tar", "s1.tar", "s2.tar", "s3.tar"}) shards.push_back(folder.write(name, good));
  fs::permissions(shards[1], fs::perms::none);
  std::uint64_t done = 0;
  IndexJobOptions options;
  options.progress = [&](std::uint64_t now, std::uint64_t /*total*/) { done = now; };
  const IndexJobResult result = [&] {
    const OrdinaryRights bound;
    return index_shards(shards, options);
  }();
  EXPECT_EQ(result.shards, 3);
  EXPECT_EQ(done, 4 * good.size());
  ASSERT_EQ(result.broken.size(), 1u);
  EXPECT_EQ(result.broken[0].shard, shards[1]);
  EXPECT_THAT(result.broken[0].reason, AllOf(HasSubstr(shards[1]), HasSubstr("Permission denied")));
  for (const std::string& shard : shards) EXPECT_EQ(fs::exists(shard + ".sidx"), shard != shards[1]) << shard;
  fs::permissions(shards[1], fs::perms::owner_all);
  EXPECT_EQ(index_shards(shards, {}).shards, 1);
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
  fs::create_directory(folder.path("empty"));
  const Error empty = error_of([&] { index_shards({folder.path("empty")}, {}); });
  EXPECT_EQ(empty.kind(), ErrorKind::kUsage);
  EXPECT_THAT(empty.what(), HasSubstr("'" + folder.path("empty") + "' is empty"));
  const std::string a = folder.write("a/0.tar", tar_end()), b = folder.write("b/0.tar", tar_end());
  const Error error = error_of([&] { index_shards({a, b}, {.folder = folder.path("out")}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr(a), HasSubstr(b)));
}

}  // namespace
}  // namespace stoker
