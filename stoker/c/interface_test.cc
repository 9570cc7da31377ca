#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/c/stoker.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kSamples = 10;
constexpr const char* kRecipe = R"(
[[view]]
name = "image"
operators = [ { op = "decode" }, { op = "random_resized_crop", size = 16 }, { op = "normalize", preset = "imagenet" } ]

[[view]]
name = "label"

[[view]]
name = "text"
field = "txt"
operators = [ { op = "decode_bytes" } ]
)";

// One line per sample: where it stands, what it is, and its bytes.
std::string line_of(std::int64_t epoch, std::int64_t position, std::int64_t sample, const std::string& key,
                    const void* image, std::size_t bytes) {
  return fmt::format("{} {} {} {} {:x}", epoch, position, sample, key,
                     std::hash<std::string_view>()({static_cast<const char*>(image), bytes}));
}

std::vector<std::string> lines_of(const StokerBatch* batch) {
  StokerTensor image{};
  EXPECT_EQ(stoker_batch_tensors(batch, "image", &image, 1, nullptr), kStokerOk);
  EXPECT_STREQ(image.dtype, "f32");
  EXPECT_EQ(image.gpu, -1);
  EXPECT_THAT(std::vector(image.shape, image.shape + image.rank), ElementsAre(stoker_batch_size(batch), 3, 16, 16));
  std::vector<std::string> lines;
  for (std::int32_t slot = 0; slot < stoker_batch_size(batch); ++slot) {
    const std::size_t bytes = 3UL * 16 * 16 * image.element_bytes;
    const auto* const pixels = static_cast<const std::uint8_t*>(image.data) + static_cast<std::size_t>(slot) * bytes;
    lines.push_back(line_of(stoker_batch_epoch(batch), stoker_batch_position(batch, slot),
                            stoker_batch_sample(batch, slot), stoker_batch_key(batch, slot), pixels, bytes));
  }
  return lines;
}

std::vector<std::string> lines_of(const Batch& batch) {
  std::vector<std::string> lines;
  for (int slot = 0; slot < batch.size(); ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    const Bytes pixels = batch.slot_bytes(0, slot);
    lines.push_back(
        line_of(batch.epoch, batch.position[at], batch.sample[at], batch.key[at], pixels.data(), pixels.size()));
  }
  return lines;
}

class CInterface : public ::testing::Test {
 protected:
  CInterface() {
    std::string tar;
    for (int i = 0; i < kSamples; ++i) {
      const std::vector<std::uint8_t> jpeg = noisy_jpeg(40, 30, static_cast<std::uint64_t>(i));
      tar += tar_member(fmt::format("{}.jpg", i), {reinterpret_cast<const char*>(jpeg.data()), jpeg.size()});
      tar += tar_member(fmt::format("{}.cls", i), fmt::format("{}", i % 3));
      tar += tar_member(fmt::format("{}.txt", i), std::string(static_cast<std::size_t>(i), 'a'));
    }
    path_ = folder_.write("a.tar", tar + tar_end());
    const char* const paths[] = {path_.c_str(), nullptr};
    EXPECT_EQ(stoker_open(paths, nullptr, &data_), kStokerOk) << stoker_error();
    EXPECT_EQ(stoker_recipe_parse(kRecipe, &recipe_), kStokerOk) << stoker_error();
  }
  ~CInterface() override {
    stoker_recipe_release(recipe_);
    stoker_dataset_release(data_);
  }

  StokerLoader* loader(const std::vector<const char*>& options) {
    std::vector<const char*> ended = options;
    ended.push_back(nullptr);
    StokerLoader* made = nullptr;
    EXPECT_EQ(stoker_loader_create(data_, recipe_, ended.data(), &made), kStokerOk) << stoker_error();
    return made;
  }

  // The rest of the epoch.
  static std::vector<std::string> rest_of(StokerLoader* loader) {
    std::vector<std::string> lines;
    StokerBatch* batch = nullptr;
    int status = kStokerOk;
    while ((status = stoker_loader_next(loader, &batch)) == kStokerOk) {
      for (const std::string& line : lines_of(batch)) lines.push_back(line);
      stoker_batch_release(batch);
    }
    EXPECT_EQ(status, kStokerEnd) << stoker_error();
    return lines;
  }

  TempFolder folder_;
  std::string path_;
  StokerDataset* data_ = nullptr;
  StokerRecipe* recipe_ = nullptr;
};

TEST_F(CInterface, GivesTheBatchesThatCppGets) {
  Loader same(open(path_), Recipe::from_toml(kRecipe), {.batch = 4, .seed = 7, .threads = 2, .tail = Tail::kKeep});
  StokerLoader* const loader =
      this->loader({"batch=4", "seed=7", "threads=2", "tail=keep", "prefetch=1", "memory=1GiB"});
  EXPECT_EQ(stoker_dataset_size(data_), kSamples);
  EXPECT_EQ(stoker_loader_batches_per_epoch(loader), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::string> expected;
    for (const BatchPtr& batch : same.epoch(epoch)) {
      for (const std::string& line : lines_of(*batch)) expected.push_back(line);
    }
    EXPECT_EQ(rest_of(loader), expected);
    EXPECT_EQ(expected.size(), static_cast<std::size_t>(kSamples));
  }
  stoker_loader_destroy(loader);
}

TEST_F(CInterface, NamesWhatABatchHas) {
  StokerLoader* const loader = this->loader({"batch=10", "order=none"});
  StokerBatch* batch = nullptr;
  ASSERT_EQ(stoker_loader_next(loader, &batch), kStokerOk) << stoker_error();
  stoker_loader_destroy(loader);  // its batch stays

  EXPECT_STREQ(stoker_batch_output(batch, 1), "label");
  EXPECT_EQ(stoker_batch_output(batch, 3), nullptr);
  EXPECT_EQ(stoker_batch_wait(batch), kStokerOk);
  EXPECT_EQ(stoker_batch_index(batch), 0);
  EXPECT_EQ(stoker_batch_valid(batch, 3), 1);
  for (const std::int32_t slot : {-1, 10, INT32_MAX}) {
    EXPECT_EQ(stoker_batch_valid(batch, slot), 0);
    EXPECT_EQ(stoker_batch_sample(batch, slot), -1);
    EXPECT_EQ(stoker_batch_position(batch, slot), -1);
    EXPECT_EQ(stoker_batch_key(batch, slot), nullptr);
  }

  StokerTensor tensors[2];
  std::int32_t count = 0;
  ASSERT_EQ(stoker_batch_tensors(batch, "label", tensors, 2, &count), kStokerOk);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(static_cast<const std::int64_t*>(tensors[0].data)[4], 4 % 3);
  ASSERT_EQ(stoker_batch_tensors(batch, "text", tensors, 2, &count), kStokerOk);
  EXPECT_EQ(count, 2);
  const auto* const begins = static_cast<const std::int64_t*>(tensors[1].data);
  EXPECT_EQ(begins[5] - begins[4], 4);
  EXPECT_EQ(stoker_batch_tensors(batch, "masks", tensors, 2, &count), kStokerNotFound);
  EXPECT_THAT(stoker_error(), AllOf(HasSubstr("masks"), HasSubstr("label")));
  stoker_batch_release(batch);
}

TEST_F(CInterface, GoesOnFromAState) {
  StokerLoader* const first = loader({"batch=2", "seed=3"});
  StokerBatch* batch = nullptr;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(stoker_loader_next(first, &batch), kStokerOk);
    stoker_batch_release(batch);
  }
  const char* json = nullptr;
  ASSERT_EQ(stoker_loader_state(first, &json), kStokerOk);
  const std::string state = json;
  const char* report = nullptr;
  ASSERT_EQ(stoker_loader_report(first, &report), kStokerOk);
  EXPECT_THAT(report, HasSubstr("\"verdict\""));

  StokerLoader* const second = loader({"batch=2", "seed=3", "threads=1"});
  ASSERT_EQ(stoker_loader_load_state(second, state.c_str()), kStokerOk) << stoker_error();
  EXPECT_EQ(rest_of(second), rest_of(first));
  EXPECT_EQ(stoker_loader_load_state(second, "{}"), kStokerUsage);
  ASSERT_EQ(stoker_loader_start_epoch(second, 5), kStokerOk);
  EXPECT_THAT(rest_of(second).front(), testing::StartsWith("5 0 "));
  stoker_loader_destroy(first);
  stoker_loader_destroy(second);
}

TEST_F(CInterface, AWaitingConsumerIsInterrupted) {
  StokerLoader* const loader = this->loader({"batch=2", "prefetch=1"});
  StokerBatch* held[8] = {};
  int count = 0;
  while (count < 4 && stoker_loader_next(loader, &held[count]) == kStokerOk) ++count;
  std::thread other([&] { stoker_loader_interrupt(loader); });
  other.join();
  EXPECT_EQ(stoker_loader_next(loader, &held[7]), kStokerClosed);
  EXPECT_EQ(stoker_loader_next_within(loader, 1, &held[7]), kStokerClosed);
  for (int i = 0; i < count; ++i) stoker_batch_release(held[i]);
  stoker_loader_destroy(loader);
}

TEST_F(CInterface, InAForkedChildAnInterruptDoesNothing) {
  if (!kChildrenOfThreadsWork) GTEST_SKIP();
  StokerLoader* const loader = this->loader({"batch=2"});
  EXPECT_EQ(status_in_child([&] {
              stoker_loader_interrupt(loader);
              return 3;
            }),
            3);
  StokerBatch* batch = nullptr;
  EXPECT_EQ(stoker_loader_next(loader, &batch), kStokerOk);
  stoker_batch_release(batch);
  stoker_loader_destroy(loader);
}

TEST_F(CInterface, WaitsAsLongAsItIsTold) {
  StokerLoader* const loader = this->loader({"batch=2"});
  StokerBatch* batch = nullptr;
  EXPECT_EQ(stoker_loader_next_within(loader, std::numeric_limits<std::int64_t>::max(), &batch), kStokerOk);
  ASSERT_NE(batch, nullptr);
  stoker_batch_release(batch);
  while (stoker_loader_next_within(loader, std::numeric_limits<std::int64_t>::min(), &batch) == kStokerLater) {
    std::this_thread::yield();
  }
  stoker_batch_release(batch);
  stoker_loader_destroy(loader);
}

TEST_F(CInterface, SaysWhatIsWrong) {
  const auto refusal = [&](const char* option, int expected = kStokerUsage) -> std::string {
    const char* const options[] = {"batch=4", option, nullptr};
    StokerLoader* made = nullptr;
    EXPECT_EQ(stoker_loader_create(data_, recipe_, options, &made), expected) << option;
    EXPECT_EQ(made, nullptr);
    return stoker_error();
  };
  EXPECT_THAT(refusal("sede=7"), HasSubstr("'sede' (did you mean 'seed'?)"));
  EXPECT_THAT(refusal("seed"), HasSubstr("name=value"));
  EXPECT_THAT(refusal("threads=many"), AllOf(HasSubstr("threads"), HasSubstr("'many'"), HasSubstr("whole number")));
  EXPECT_THAT(refusal("nvjpeg=yes"), HasSubstr("neither true nor false"));
  EXPECT_THAT(refusal("order=backwards"), HasSubstr("order"));
  EXPECT_THAT(refusal("audit="), HasSubstr("empty"));
  EXPECT_THAT(refusal("memory=1KiB", kStokerMemory), HasSubstr("memory"));

  const char* const absent[] = {"no-such-folder", nullptr};
  StokerDataset* data = nullptr;
  EXPECT_EQ(stoker_open(absent, nullptr, &data), kStokerNotFound);
  EXPECT_THAT(stoker_error(), HasSubstr("no-such-folder"));
  const char* const paths[] = {path_.c_str(), nullptr};
  for (const char* option : {"io=mmap", "direct=1", "tokens=few", "stream=4", "streams=4", "token_type=u16",
                             "token_field=x", "document_seed=1", "index_dir="}) {
    const char* const options[] = {option, nullptr};
    EXPECT_EQ(stoker_open(paths, options, &data), kStokerUsage) << option;
  }
  EXPECT_EQ(data, nullptr);
  StokerRecipe* recipe = nullptr;
  EXPECT_EQ(stoker_recipe_load("imagenet-trian", &recipe), kStokerUsage);
  EXPECT_THAT(stoker_error(), HasSubstr("imagenet-train"));
}

TEST_F(CInterface, NamesTheArgumentThatIsMissing) {
  const auto refusal = [](int status) {
    EXPECT_EQ(status, kStokerUsage);
    return std::string(stoker_error());
  };
  const char* const none[] = {nullptr};
  StokerDataset* dataset = nullptr;
  EXPECT_EQ(refusal(stoker_open(nullptr, nullptr, &dataset)), "the argument 'paths' is NULL");
  EXPECT_EQ(refusal(stoker_open(none, nullptr, &dataset)), "no path is given");
  EXPECT_EQ(refusal(stoker_open(none, nullptr, nullptr)), "the argument 'dataset' is NULL");
  StokerRecipe* recipe = nullptr;
  EXPECT_EQ(refusal(stoker_recipe_load(nullptr, &recipe)), "the argument 'name_or_path' is NULL");
  EXPECT_EQ(refusal(stoker_recipe_parse(nullptr, &recipe)), "the argument 'toml' is NULL");
  StokerLoader* loader = nullptr;
  EXPECT_EQ(refusal(stoker_loader_create(nullptr, nullptr, nullptr, &loader)), "the argument 'dataset' is NULL");
  StokerBatch* batch = nullptr;
  EXPECT_EQ(refusal(stoker_loader_next(nullptr, &batch)), "the argument 'loader' is NULL");
  EXPECT_EQ(refusal(stoker_loader_next_within(nullptr, 0, nullptr)), "the argument 'batch' is NULL");
  EXPECT_EQ(refusal(stoker_batch_tensors(nullptr, "image", nullptr, 0, nullptr)), "the argument 'batch' is NULL");
  EXPECT_EQ(dataset, nullptr);
  stoker_dataset_release(dataset);
  stoker_recipe_release(recipe);
  stoker_loader_destroy(loader);
  stoker_batch_release(batch);
}

TEST_F(CInterface, OpensAsItIsTold) {
  const char* const paths[] = {path_.c_str(), path_.c_str(), nullptr};
  const char* const options[] = {"io=pread", "use_index=false", "label_field=txt", nullptr};
  StokerDataset* data = nullptr;
  ASSERT_EQ(stoker_open(paths, options, &data), kStokerOk) << stoker_error();
  EXPECT_EQ(stoker_dataset_size(data), 2 * kSamples);
  EXPECT_STREQ(stoker_dataset_class(data, 2), "aaa");
  EXPECT_EQ(stoker_dataset_class(data, 100), nullptr);
  EXPECT_EQ(stoker_dataset_class(data, -1), nullptr);
  stoker_dataset_release(data);
}

}  // namespace
}  // namespace stoker
