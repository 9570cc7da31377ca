#include "stoker/pack/pack_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "stoker/format/open/sharded_dataset.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kShardBytes = 20'000;

class PackByPlan : public PackOfTinyFolder {
 protected:
  std::string plan_path() const { return folder_.path("pack.plan"); }
  PlanSummary plan(const std::string& to, const PackOptions& options = {.shard_bytes = kShardBytes}) {
    return plan_pack({data_}, folder_.path(to), plan_path(), options);
  }
  TasksResult work(const std::string& to, const std::vector<TaskRange>& tasks, const PackOptions& how = {}) {
    return pack_tasks({data_}, folder_.path(to), plan_path(), tasks, how);
  }
  PackResult merge(const std::string& to) { return merge_pack({data_}, folder_.path(to), plan_path(), {}); }

  /// The files of a pack that was planned and done in one go.
  std::map<std::string, std::string> planned_at_once(const PackOptions& options = {.shard_bytes = kShardBytes}) {
    const auto tasks = static_cast<std::size_t>(plan("at_once", options).tasks);
    work("at_once", {{0, tasks - 1}});
    merge("at_once");
    auto files = files_below(folder_.path("at_once"));
    fs::remove_all(folder_.path("at_once"));
    fs::remove_all(plan_path() + ".done");
    fs::remove(plan_path());
    return files;
  }

  std::string data_ = source_;
};

/// Without the manifest, which says how it came about.
std::map<std::string, std::string> shards_of(std::map<std::string, std::string> files) {
  files.erase(std::string(kManifestName));
  return files;
}

TEST_F(PackByPlan, MakesTheShardsOfAPackThatIsMadeAtOnce) {
  const auto planned = planned_at_once();
  pack({source_}, folder_.path("plain"), {.shard_bytes = kShardBytes});
  EXPECT_EQ(shards_of(planned), shards_of(files_below(folder_.path("plain"))));
  EXPECT_GT(planned.size(), 3);
}

TEST_F(PackByPlan, MakesTheSameOfListedSamplesWithOtherLabels) {
  folder_.write("loose/c0000/extra.png", "not an image");  // its place is told among all samples
  const auto all = open_dataset({source_}, std::make_shared<InlineExecutor>());
  std::string list, labels;
  for (std::int64_t i = 0; i < all->size(); ++i) {
    if (i % 4 == 1 || all->key(i) == "c0000/extra") list += all->key(i) + "\n";
    labels += fmt::format("{} {}\n", all->key(i), i % 3);
  }
  folder_.write("list.txt", list);
  folder_.write("labels.txt", labels);
  const PackOptions options{
      .subset = folder_.path("list.txt"), .labels = folder_.path("labels.txt"), .shard_bytes = kShardBytes};
  pack({source_}, folder_.path("tars"), {.bad = BadSamplePolicy::kKeep});
  for (const std::string& data : {source_, folder_.path("tars")}) {
    data_ = data;
    fs::remove_all(folder_.path("plain"));
    const PackResult plain = pack({data}, folder_.path("plain"), options);
    ASSERT_EQ(plain.bad.size(), 1u);
    EXPECT_EQ(shards_of(planned_at_once(options)), shards_of(files_below(folder_.path("plain")))) << data;
    const auto tasks = static_cast<std::size_t>(plan("again", options).tasks);
    work("again", {{0, tasks - 1}});
    const PackResult merged = merge("again");
    ASSERT_EQ(merged.bad.size(), 1u);
    EXPECT_EQ(merged.bad[0].key, "c0000/extra");
    EXPECT_EQ(merged.bad[0].offset, plain.bad[0].offset);
    fs::remove_all(folder_.path("again"));
    fs::remove_all(plan_path() + ".done");
    fs::remove(plan_path());
  }
}

TEST_F(PackByPlan, MakesTheSameOfLists) {
  for (const char* name : {"a", "b", "c"}) folder_.write(fmt::format("in/{}.png", name), noisy_png(32, 32, *name));
  const std::string lists[] = {
      folder_.write("in/table.csv", "path,label,caption\na.png,1,hello\nb.png,0,\"say \"\"so\"\"\"\nc.png,1,world\n"),
      folder_.write("in/lines.jsonl", "{\"path\": \"a.png\", \"label\": 1}\n{\"path\": \"b.png\", \"label\": 0}\n"),
      folder_.write("in/array.json", "[{\"path\": \"a.png\", \"label\": 1}, {\"path\": \"b.png\", \"label\": 0}]"),
      folder_.write("in/coco.json",
                    R"({"images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "b.png"}],
                        "annotations": [{"image_id": 2, "category_id": 3, "bbox": [1, 2, 3, 4]}],
                        "categories": [{"id": 3, "name": "cat"}]})"),
      folder_.write("beside/table.csv", "path,file:mask.png,note\n../in/a.png,../in/b.png,x\n../in/c.png,,y\n"),
  };
  const PackOptions options{.shard_bytes = 5000};
  for (const std::string& list : lists) {
    data_ = list;
    fs::remove_all(folder_.path("plain"));
    pack({list}, folder_.path("plain"), options);
    EXPECT_EQ(shards_of(planned_at_once(options)), shards_of(files_below(folder_.path("plain")))) << list;
  }
}

TEST_F(PackByPlan, MakesTheSameInAnyOrderTwiceAndAfterKills) {
  const auto expected = planned_at_once();
  const auto count = static_cast<std::size_t>(plan("out").tasks);
  std::mt19937 random(1);
  std::vector<std::size_t> order(2 * count);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % count;
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t task : order) {
    if (random() % 2 == 0) {  // of a writer that was killed on another machine
      write_whole_file(folder_.path("out") + fmt::format("/shard-{:06}.tar.other.partial", task), as_bytes("torn"));
    }
    if (random() % 3 == 0) fs::remove(plan_path() + fmt::format(".done/{:06}.json", task));
    if (random() % 3 == 0) {
      const std::string shard = folder_.path("out") + fmt::format("/shard-{:06}.tar", task);
      if (fs::exists(shard)) fs::resize_file(shard, 1000);
    }
    work("out", {{task, task}}, {.threads = static_cast<int>(random() % 3) + 1});
  }
  for (std::size_t task = 0; task < count; ++task) work("out", {{task, task}});  // of what was cut short meanwhile
  EXPECT_EQ(merge("out").samples, 60);
  EXPECT_EQ(files_below(folder_.path("out")), expected);
}

TEST_F(PackByPlan, MakesTheSameByWorkersThatDoTheSameTaskAtOnce) {
  const auto expected = planned_at_once();
  const auto count = static_cast<std::size_t>(plan("out").tasks);
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) workers.emplace_back([&] { work("out", {{0, count - 1}}, {.threads = 1}); });
  }
  merge("out");
  EXPECT_EQ(files_below(folder_.path("out")), expected);
  for (const auto& entry : fs::directory_iterator(plan_path() + ".done")) {
    EXPECT_EQ(entry.path().extension(), ".json") << "a lock was left";
  }
}

TEST_F(PackByPlan, IsTheSamePlanOfTheSameDataElsewhere) {
  plan("out");
  const std::string first = read_file(plan_path());
  fs::remove(plan_path());
  fs::remove_all(folder_.path("out"));
  fs::copy(source_, folder_.path("copy"), fs::copy_options::recursive);
  data_ = folder_.path("copy");
  plan("elsewhere");
  EXPECT_EQ(read_file(plan_path()), first);
  // It is good for the data where they were, too.
  data_ = source_;
  work("elsewhere", {{0, 0}});
}

TEST_F(PackByPlan, KeepsLabelsClassesAndOrder) {
  const auto classes = open_dataset({source_}, Stores())->classes();
  const PackOptions named{.shard_bytes = kShardBytes, .classes = {classes[3], classes[1]}, .shuffle = 5};
  const auto planned = planned_at_once(named);
  pack({source_}, folder_.path("plain"), named);
  EXPECT_EQ(shards_of(planned), shards_of(files_below(folder_.path("plain"))));
  // The same from shards, whose samples have numbers in place of paths.
  pack({source_}, folder_.path("tars"), {.shard_bytes = kShardBytes});
  data_ = folder_.path("tars");
  EXPECT_EQ(shards_of(planned_at_once(named)), shards_of(planned));
}

TEST_F(PackByPlan, MakesEveryFormatThatIsWritten) {
  for (const WritableFormat* format : writable_formats()) {
    SCOPED_TRACE(format->name());
    const PackOptions options{.format = format, .shard_bytes = kShardBytes};
    const auto planned = planned_at_once(options);
    const std::string at = folder_.path(fmt::format("plain-{}", format->name()));
    plan("again", options);
    const auto count = static_cast<std::size_t>(plan("again", options).tasks);
    for (std::size_t task = count; task-- > 0;) work("again", {{task, task}});
    merge("again");
    EXPECT_EQ(files_below(folder_.path("again")), planned);
    const auto made = open_dataset({folder_.path("again")}, Stores());
    EXPECT_EQ(made->size(), 60);
    fs::remove_all(folder_.path("again"));
    fs::remove_all(plan_path() + ".done");
    fs::remove(plan_path());
  }
}

TEST_F(PackByPlan, TransformsImagesIntoShardsOfAboutTheSize) {
  TempFolder photos;
  synthesize(photos.path("in"), {.kind = SynthKind::kImagenet, .count = 24, .classes = 2, .threads = 2});
  data_ = photos.path("in");
  const PackOptions options{.shard_bytes = 60'000, .transform = {.resize_short = 64, .quality = 80}};
  const auto planned = planned_at_once(options);
  std::size_t full = 0;
  for (const auto& [name, content] : planned) full += content.size() > 30'000 && content.size() < 120'000;
  EXPECT_GE(full + 2, planned.size()) << "but for the last shard, and the manifest";
  pack({data_}, folder_.path("plain"), options);
  const auto a = open_dataset({folder_.path("plain")}, Stores());
  plan("again", options);
  work("again", {{0, planned.size() - 2}});
  merge("again");
  const auto b = open_dataset({folder_.path("again")}, Stores());
  EXPECT_EQ(a->fingerprint(), b->fingerprint());
}

TEST_F(PackByPlan, LeavesBadSamplesOutAndTellsOfThem) {
  TempFolder other;
  for (int i = 0; i < 12; ++i) {
    other.write(fmt::format("in/{:02}.png", i),
                i % 4 == 1 ? std::string("no image") : std::string(as_text(noisy_png(64, 64, i))));
  }
  data_ = other.path("in");
  planned_at_once();
  const auto count = static_cast<std::size_t>(plan("out").tasks);
  const TasksResult done = work("out", {{0, count - 1}});
  EXPECT_EQ(done.samples, 9);
  EXPECT_EQ(done.bad.size(), 3);
  const PackResult merged = merge("out");
  const PackResult plain = pack({data_}, folder_.path("plain"), {.shard_bytes = kShardBytes});
  ASSERT_EQ(merged.bad.size(), 3);
  EXPECT_EQ(merged.samples, plain.samples);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(merged.bad[i].key, plain.bad[i].key);
    EXPECT_EQ(merged.bad[i].reason, plain.bad[i].reason);
    EXPECT_EQ(merged.bad[i].shard, plain.bad[i].shard);
  }
  // A later call is told the same.
  EXPECT_EQ(merge("out").bad.size(), 3);
}

TEST_F(PackByPlan, IsNoDataSetBeforeItIsMerged) {
  const auto count = static_cast<std::size_t>(plan("out").tasks);
  ASSERT_GT(count, 3);
  work("out", {{1, 1}, {count - 1, count - 1}});
  const Error early = error_of([&] { merge("out"); });
  EXPECT_EQ(early.kind(), ErrorKind::kUsage);
  EXPECT_THAT(early.what(),
              AllOf(HasSubstr(fmt::format("{} tasks of {}", count - 2, count)), HasSubstr("not done: 0")));
  const Error plain = error_of([&] { pack({source_}, folder_.path("out"), {.shard_bytes = kShardBytes}); });
  EXPECT_EQ(plain.kind(), ErrorKind::kUsage);
  EXPECT_THAT(plain.what(), HasSubstr("another plan has begun"));
  work("out", {{0, count - 1}});
  merge("out");
  EXPECT_FALSE(fs::exists(folder_.path("out") + "/" + std::string(kJournalName)));
  // Nothing is left to do, and nothing is done.
  EXPECT_EQ(work("out", {{0, count - 1}}).current, static_cast<std::int64_t>(count));
}

TEST_F(PackByPlan, RefusesAFolderWithAPackThatWasBegunWithoutAPlan) {
  std::stop_source stop;
  PackOptions options{.shard_bytes = kShardBytes, .stop = stop.get_token()};
  options.progress = [&](std::int64_t done, std::int64_t) {
    if (done >= 40) stop.request_stop();
  };
  EXPECT_EQ(error_of([&] { pack({source_}, folder_.path("out"), options); }).kind(), ErrorKind::kClosed);
  const Error planned = error_of([&] { plan("out"); });
  EXPECT_EQ(planned.kind(), ErrorKind::kUsage);
  EXPECT_THAT(planned.what(), HasSubstr("begun without a plan"));
}

TEST_F(PackByPlan, NamesTheTasksWhoseShardsWereLost) {
  const auto count = static_cast<std::size_t>(plan("out").tasks);
  work("out", {{0, count - 1}});
  fs::remove(folder_.path("out") + "/shard-000001.tar");
  fs::resize_file(folder_.path("out") + "/shard-000002.tar", 5000);
  const Error lost = error_of([&] { merge("out"); });
  EXPECT_EQ(lost.kind(), ErrorKind::kUsage);
  EXPECT_THAT(lost.what(),
              HasSubstr("the shards of tasks 1 and 2 are missing or not what was packed; do these tasks again"));
  EXPECT_EQ(work("out", {{0, count - 1}}).done, 2);
  EXPECT_EQ(merge("out").samples, 60);
}

TEST_F(PackByPlan, RefusesDataThatAreNotThePlans) {
  const auto last = static_cast<std::size_t>(plan("out").tasks) - 1;
  TempFolder other;
  data_ = tiny_folder(other, 60, 3);
  EXPECT_EQ(error_of([&] { work("out", {{last, last}}); }).kind(), ErrorKind::kNotFound) << "it has other names";
  data_ = source_;
  for (const auto& entry : fs::recursive_directory_iterator(source_)) {
    if (entry.is_regular_file()) fs::resize_file(entry.path(), fs::file_size(entry.path()) + 1);
  }
  const Error changed = error_of([&] { work("out", {{0, 0}}); });
  EXPECT_EQ(changed.kind(), ErrorKind::kData);
  EXPECT_THAT(changed.what(), HasSubstr("make a new plan"));
  // Shards with other samples.
  TempFolder packs;
  pack({tiny_folder(packs, 60, 4, "loose")}, packs.path("a"), {.shard_bytes = kShardBytes});
  data_ = packs.path("a");
  EXPECT_EQ(error_of([&] { work("out", {{0, 0}}); }).kind(), ErrorKind::kData);
}

TEST_F(PackByPlan, RefusesAnotherPlanOfTheName) {
  plan("out");
  plan("out");  // the same is no other
  const Error other = error_of([&] { plan("elsewhere", {.shard_bytes = 2 * kShardBytes}); });
  EXPECT_EQ(other.kind(), ErrorKind::kUsage);
  EXPECT_THAT(other.what(), HasSubstr("choose another name"));
  EXPECT_EQ(error_of([&] { work("out", {{0, 1000}}); }).kind(), ErrorKind::kUsage);
}

TEST_F(PackByPlan, NoticesEveryFlippedBitAndEveryCutOfAPlan) {
  plan("out");
  const std::string whole = read_file(plan_path());
  const auto use = [&](std::string content) {
    fs::remove_all(folder_.path("bad.plan"));
    write_whole_file(folder_.path("bad.plan"), as_bytes(content));
    const JobPlan read(Stores(), folder_.path("bad.plan"), "pack");
    for (std::size_t task = 0; task < read.tasks().size(); ++task) read.frozen(task);
  };
  use(whole);
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 500) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    EXPECT_EQ(error_of([&] { use(flipped); }).kind(), ErrorKind::kData) << "byte " << at;
    EXPECT_EQ(error_of([&] { use(whole.substr(0, at)); }).kind(), ErrorKind::kData) << at << " bytes";
  }
}

TEST(ListedTasks, AreReadAsRanges) {
  EXPECT_EQ(listed_tasks({4}), "4");
  EXPECT_EQ(listed_tasks({0, 1}), "0 and 1");
  EXPECT_EQ(listed_tasks({0, 3, 4, 5, 9}), "0, 3 to 5 and 9");
  EXPECT_EQ(listed_tasks({0, 2, 4, 6, 8, 10, 12, 14, 16, 18}), "0, 2, 4, 6, 8, 10, 12, 14, and more");
}

}  // namespace
}  // namespace stoker
