// Loaders whose recipe gives each batch one of several sizes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/device/device_testing.h"
#include "stoker/plan/reference_executor.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {
namespace {

using Lines = std::vector<std::string>;

constexpr std::uint64_t kSeed = 3;

OperatorCall sized_crop(double height, double width) {
  return {"random_resized_crop", {{"size", std::vector<double>{height, width}}}};
}

/// Of three sizes, of which none is the largest in both directions.
Recipe sized_recipe(std::string_view mode = "planar") {
  const OperatorCall resized{"resize", {{"size", std::vector<double>{40, 30}}}};
  const OperatorCall cropped{"random_crop", {{"size", std::vector<double>{24, 8}}}};
  const OperatorCall both{"sequence", {{"operators", OperatorCalls{resized, cropped}}}};
  return Recipe()
      .decode(mode)
      .random_choice({sized_crop(8, 12), sized_crop(16, 16), both}, {}, "batch")
      .random_flip()
      .normalize("imagenet");
}

LoaderOptions options_of(int batch, int threads = 2) { return {.batch = batch, .seed = kSeed, .threads = threads}; }

std::string shape_of(const Batch& batch) { return fmt::format("{}", fmt::join(batch.output(0).shape.extents(), "x")); }

/// By number of the epoch and of its batch.
using Shapes = std::map<std::pair<std::int64_t, std::int64_t>, std::string>;

Shapes shapes_of(const MemoryDataset& data, const Recipe& recipe, const LoaderOptions& options, int epochs) {
  Loader loader(data.dataset, recipe, options);
  Shapes shapes;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) shapes[{batch->epoch, batch->index}] = shape_of(*batch);
  }
  return shapes;
}

/// Every value of every slot is the reference executor's.
void expect_reference(const MemoryDataset& data, const Recipe& recipe, const LoaderOptions& options,
                      const std::string& what) {
  const Plan plan(recipe);
  SampleReader reader(*data.dataset, plan);
  ReferenceExecutor reference(plan);
  Loader loader(data.dataset, recipe, options);
  for (const BatchPtr& batch : loader.epoch(1)) {
    std::vector<std::uint8_t> room;
    const Bytes values = batch->host_bytes(0, room);
    for (int slot = 0; slot < batch->size(); ++slot) {
      const auto at = static_cast<std::size_t>(slot);
      const SampleDraw draw{kSeed, 1, static_cast<std::uint64_t>(batch->position[at]),
                            static_cast<std::uint64_t>(batch->index)};
      const std::vector<SampleOutput> want = run_one(reference, reader.input(batch->sample[at], draw));
      ASSERT_EQ(batch->outputs()[0].shape, want[0].spec.shape) << what;
      const Bytes got = batch->slot_bytes(0, slot, values.data());
      EXPECT_TRUE(std::equal(got.begin(), got.end(), want[0].bytes.begin(), want[0].bytes.end()))
          << what << ", batch " << batch->index << ", slot " << slot;
    }
  }
}

TEST(LoaderBatchSizes, EverySizeComesAboutAsOftenAsTheOthers) {
  const Shapes shapes = shapes_of(memory_dataset({.samples = 200, .tiny = true}), sized_recipe(), options_of(2), 3);
  std::map<std::string, int> counts;
  for (const auto& [number, shape] : shapes) ++counts[shape];
  ASSERT_EQ(counts.size(), 3u);
  for (const char* const shape : {"2x3x8x12", "2x3x16x16", "2x3x24x8"}) {
    EXPECT_NEAR(counts[shape], 100, 30) << shape;  // 3.6 standard deviations
  }
}

TEST(LoaderBatchSizes, WeightsSayHowOftenASizeComes) {
  const Recipe recipe = Recipe().decode().random_choice({sized_crop(8, 8), sized_crop(9, 9)}, {0, 1}, "batch");
  for (const auto& [number, shape] : shapes_of(memory_dataset(), recipe, options_of(8), 2)) {
    EXPECT_EQ(shape, "8x3x9x9");
  }
}

TEST(LoaderBatchSizes, MakesWhatTheReferenceMakesWhateverTheThreads) {
  const MemoryDataset data = memory_dataset();
  for (const char* const mode : {"planar", "faithful"}) {
    for (const int threads : {1, 3}) {
      LoaderOptions options = options_of(4, threads);
      options.prefetch = threads == 1 ? 1 : 5;
      expect_reference(data, sized_recipe(mode), options, fmt::format("{}, {} threads", mode, threads));
    }
  }
}

TEST(LoaderBatchSizes, IsTheSameAtEveryTransferIndex) {
  const MemoryDataset data = memory_dataset({.indexed = true});
  for (const char* const mode : {"planar", "faithful"}) {
    for (int index = 0; index <= kTransferIndexMax; ++index) {
      LoaderOptions options = options_of(4);
      options.device = open_device(test_device_name());
      options.transfer_index = index;
      expect_reference(data, sized_recipe(mode), options, fmt::format("{}, transfer index {}", mode, index));
    }
  }
}

TEST(LoaderBatchSizes, AWarpBeforeItFollowsTheBatchsSize) {
  const MemoryDataset data = memory_dataset({.indexed = true});
  Recipe recipe = Recipe().decode();
  recipe.add({"rotate", {{"degrees", 20.0}}});
  recipe.random_choice({sized_crop(8, 12), sized_crop(20, 9)}, {}, "batch").normalize("imagenet");
  expect_reference(data, recipe, options_of(4), "on the host");
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    LoaderOptions options = options_of(4);
    options.device = open_device(test_device_name());
    options.transfer_index = index;
    expect_reference(data, recipe, options, fmt::format("transfer index {}", index));
  }
}

// A box that was drawn for another size would not cover a whole number of pixels.
TEST(LoaderBatchSizes, CutmixWeighsLabelsByThePixelsOfTheBatch) {
  Recipe recipe = Recipe().decode().random_choice({sized_crop(8, 12), sized_crop(24, 20)}, {}, "batch");
  recipe.view("label").one_hot(7).cutmix(1, 1, "pair");
  Loader loader(memory_dataset().dataset, recipe, options_of(4));
  int mixed = 0;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      const auto pixels = static_cast<double>(batch->outputs()[0].shape.elements()) / 3;
      const TensorView labels = batch->output("label");
      std::vector<float> weights(static_cast<std::size_t>(labels.shape.elements()));
      std::memcpy(weights.data(), labels.data, labels.bytes());
      for (const float weight : weights) {
        EXPECT_NEAR(weight * pixels, std::round(weight * pixels), 1e-3);
        mixed += weight > 0 && weight < 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(mixed, 20);
}

// Pictures, erasing and mixing on a device go by the batch's size, too.
TEST(LoaderBatchSizes, EveryStageGoesByTheBatchsSize) {
  const MemoryDataset data = memory_dataset({.indexed = true});
  Recipe recipe = Recipe().decode().random_choice({sized_crop(8, 12), sized_crop(24, 20)}, {}, "batch");
  recipe.add({"gaussian_blur", {{"kernel_size", 5.0}}}).normalize("imagenet").random_erasing(0.8);
  recipe.view("small").decode().random_choice({sized_crop(4, 6), sized_crop(7, 5)}, {}, "batch").cast("u8");
  recipe.view("label").one_hot(7).cutmix(1, 1, "pair").mixup();
  const auto lines = [&](LoaderOptions options) {
    Loader loader(data.dataset, recipe, std::move(options));
    return audit_of(loader, 2);
  };
  const Lines want = lines(options_of(4, 1));
  EXPECT_EQ(lines(options_of(4, 3)), want);
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    LoaderOptions options = options_of(4);
    options.device = open_device(test_device_name());
    options.transfer_index = index;
    EXPECT_EQ(lines(options), want) << "transfer index " << index;
  }
}

TEST(LoaderBatchSizes, RanksHaveOneSizeInAStep) {
  const MemoryDataset data = memory_dataset({.samples = 96});
  const Shapes alone = shapes_of(data, sized_recipe(), options_of(6), 2);
  for (int rank = 0; rank < 3; ++rank) {
    LoaderOptions options = options_of(2);
    options.rank = rank;
    options.world = 3;
    const Shapes shapes = shapes_of(data, sized_recipe(), options, 2);
    ASSERT_EQ(shapes.size(), alone.size());
    for (const auto& [number, shape] : shapes) EXPECT_EQ(shape.substr(1), alone.at(number).substr(1));
  }
}

TEST(LoaderBatchSizes, AResumedRunGoesOnWithTheSizesItWouldHaveHad) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_of(4);
  options.epochs_end = 2;
  const Shapes want = shapes_of(data, sized_recipe(), options, 2);
  Loader first(data.dataset, sized_recipe(), options);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(first.next());
  Loader second(data.dataset, sized_recipe(), options);
  second.load_state(first.state());
  std::size_t left = 0;
  while (const BatchPtr batch = second.next()) {
    EXPECT_EQ(shape_of(*batch), (want.at({batch->epoch, batch->index})));
    if (batch->epoch == 0) ++left;
  }
  EXPECT_EQ(left, 7u);
}

TEST(LoaderBatchSizes, AKeptTailHasASizeToo) {
  LoaderOptions options = options_of(4);
  options.tail = Tail::kKeep;
  options.order = OrderKind::kNone;
  const Shapes shapes = shapes_of(memory_dataset({.samples = 10}), sized_recipe(), options, 8);
  std::set<std::string> last;
  for (const auto& [number, shape] : shapes) {
    if (number.second == 2) last.insert(shape);
  }
  EXPECT_EQ(last, (std::set<std::string>{"2x3x8x12", "2x3x16x16", "2x3x24x8"}));
}

TEST(LoaderBatchSizes, ViewsOfOneDrawGroupChooseAlike) {
  Recipe recipe = Recipe().decode().random_choice({sized_crop(8, 8), sized_crop(16, 16)}, {}, "batch");
  recipe.view("mask", "image").draw_group("image").decode();
  recipe.random_choice({sized_crop(4, 4), sized_crop(8, 8)}, {}, "batch");
  Loader loader(memory_dataset().dataset, recipe, options_of(4));
  std::set<std::int64_t> heights;
  for (const BatchPtr& batch : loader.epoch(0)) {
    heights.insert(batch->output("image").shape[2]);
    EXPECT_EQ(batch->output("image").shape[2], 2 * batch->output("mask").shape[2]);
  }
  EXPECT_EQ(heights, (std::set<std::int64_t>{8, 16}));
}

}  // namespace
}  // namespace stoker
