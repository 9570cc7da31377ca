// Loaders whose samples are mixed: the same whatever makes them, and what plain loops make of the unmixed samples.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/device/device_testing.h"
#include "stoker/ops/kernels/mix/mix_testing.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;
using Output = std::vector<std::uint8_t>;

constexpr ImageSize kSize{20, 12};

Recipe images(std::string_view dtype = "f32", std::string_view layout = "nchw") {
  return Recipe()
      .decode()
      .resize(kSize.height, kSize.width)
      .random_flip()
      .normalize("imagenet")
      .cast(dtype)
      .layout(layout);
}
Recipe soft(std::string_view dtype = "f32", std::string_view layout = "nchw") {
  return images(dtype, layout).view("label").one_hot(7, 0.1);
}

/// Recipes of every operator and mode, and chains of them.
std::vector<Recipe> mixing_recipes() {
  Recipe two_views = soft("u8").view("small").decode("faithful").resize(5, 7).cast("f16");
  Recipe pictures = Recipe().decode().resize(kSize.height, kSize.width).invert().normalize("imagenet");
  pictures.add({"random_erasing", {{"p", 0.8}}});
  return {soft().mixup(0.2),
          soft("f16").cutmix(1, 0.8, "pair"),
          soft("u8", "nhwc").mixup_or_cutmix(0.8, 1, 0.5, 0.9, "elem"),
          soft("bf16").mosaic(),
          soft().mosaic(1, 0.7, "elem").mixup(1, 1, "pair"),
          two_views.cutmix(),
          pictures.mixup_or_cutmix(0.8, 1, 0.5, 0.9, "pair", "pair")};
}

LoaderOptions options_of(int batch, int threads = 2) { return {.batch = batch, .seed = 3, .threads = threads}; }

Lines audit(const MemoryDataset& data, const Recipe& recipe, LoaderOptions options, int epochs = 2) {
  Loader loader(data.dataset, recipe, std::move(options));
  return audit_of(loader, epochs);
}

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

// --- the plain computation

/// The valid samples of an epoch by position, and their outputs.
using Samples = std::map<std::int64_t, std::vector<Output>>;

Samples samples_of(Loader& loader, std::int64_t epoch) {
  Samples samples;
  for (const BatchPtr& batch : loader.epoch(epoch)) {
    for (int slot = 0; slot < batch->size(); ++slot) {
      if (!batch->valid(slot)) continue;
      std::vector<Output>& outputs = samples[batch->position[static_cast<std::size_t>(slot)]];
      for (std::size_t output = 0; output < batch->outputs().size(); ++output) {
        const Bytes bytes = batch->slot_bytes(output, slot);
        outputs.emplace_back(bytes.begin(), bytes.end());
      }
    }
  }
  return samples;
}

struct MixedHow {
  std::uint64_t seed;
  std::int64_t epoch, global_batch, distance;
};

MixDraw draw_for(const OperatorCall& call, int occurrence, const MixedHow& how, std::int64_t first, std::int64_t own) {
  const auto op = std::get<BatchFunction>(find_operator(call.name).function)(call);
  const std::string& mode = call.text("mode");
  const std::int64_t key = mode == "batch" ? first / how.global_batch : mode == "elem" ? own : first;
  Random random(how.seed, static_cast<std::uint64_t>(how.epoch), static_cast<std::uint64_t>(key),
                random_stream("batch", call.name, occurrence));
  return op->draw(random, kSize);
}

void mix_labels(std::vector<std::vector<Output>*>& group, const std::vector<MixDraw>& mixes, std::size_t output) {
  std::vector<std::vector<float>> before;
  for (const auto* sample : group) {
    before.emplace_back((*sample)[output].size() / sizeof(float));
    std::memcpy(before.back().data(), (*sample)[output].data(), (*sample)[output].size());
  }
  for (std::size_t m = 0; m < group.size(); ++m) {
    std::vector<float> mixed = before[m];
    for (std::size_t i = 0; i < mixed.size() && mixes[m].kind != MixDraw::Kind::kKeep; ++i) {
      mixed[i] = before[m][i] * mixes[m].weight[0];
      for (std::size_t k = 1; k < group.size(); ++k) mixed[i] = mixed[i] + before[m ^ k][i] * mixes[m].weight[k];
    }
    std::memcpy((*group[m])[output].data(), mixed.data(), (*group[m])[output].size());
  }
}

void mix_pairs(std::vector<std::vector<Output>*>& group, const std::vector<MixDraw>& mixes, std::size_t own) {
  for (std::size_t m = 0; m < group.size(); ++m) {
    (*group[m])[own + 1] = (*group[mixes[m].kind == MixDraw::Kind::kKeep ? m : m ^ 1])[own];
    std::memcpy((*group[m])[own + 2].data(), &mixes[m].weight[0], sizeof(float));
  }
}

/// One operator. Of a group that is not complete nothing is mixed.
void mix_plainly(Samples& samples, const OperatorCall& call, const Plan& plan, int occurrence, const MixedHow& how) {
  const std::int64_t size = call.name == "mosaic" ? 4 : 2;
  for (const auto& [first, unused] : samples) {
    if (first / how.distance % size != 0) continue;
    std::vector<std::vector<Output>*> group;
    std::vector<MixDraw> mixes;
    for (std::int64_t m = 0; m < size; ++m) {
      const auto found = samples.find(first + m * how.distance);
      if (found != samples.end()) group.push_back(&found->second);
      mixes.push_back(draw_for(call, occurrence, how, first, first + m * how.distance));
    }
    if (std::ssize(group) < size) continue;
    for (std::size_t output = 0; output < plan.views().size(); ++output) {
      const ViewPlan& view = plan.views()[output];
      if (view.one_hot.classes > 0) mix_labels(group, mixes, output);
      if (view.kind == ViewKind::kLabel && view.name == "label_b") mix_pairs(group, mixes, output - 1);
      if (view.kind != ViewKind::kImage) continue;
      const ImageSize image = *view.image.geometry.output_size();
      std::vector<Output> tensors;
      std::vector<MixDraw> moved;
      for (const auto* sample : group) tensors.push_back((*sample)[output]);
      for (const MixDraw& mix : mixes) moved.push_back(scaled(mix, kSize, image));
      stoker::mix_plainly(tensors, moved, view.image.format, image);
      for (std::size_t m = 0; m < group.size(); ++m) (*group[m])[output] = tensors[m];
    }
  }
}

Recipe unmixed(const Recipe& recipe) {
  std::string toml = recipe.to_toml();
  const std::size_t begin = toml.find("batch = ["), end = toml.find("]\n", begin);
  toml.erase(begin, end + 2 - begin);
  return Recipe::from_toml(toml);
}

/// What plain loops make of a loader that does not mix.
Samples plainly_mixed(const MemoryDataset& data, const Recipe& recipe, const LoaderOptions& options, int epoch) {
  const Plan plan(recipe);
  Loader loader(data.dataset, unmixed(recipe), options);
  Samples samples = samples_of(loader, epoch);
  for (auto& [position, outputs] : samples) {
    for (std::size_t output = outputs.size(); output < plan.views().size(); ++output) {
      outputs.emplace_back(plan.outputs()[output].bytes_per_sample());
      if (plan.views()[output].kind == ViewKind::kLabel) outputs.back() = outputs[output - 1];
      constexpr float kWhole = 1;
      if (plan.views()[output].kind == ViewKind::kShare) std::memcpy(outputs.back().data(), &kWhole, sizeof(kWhole));
    }
  }
  MixedHow how{options.seed, epoch, std::int64_t{options.batch} * options.world.value_or(1),
               static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(options.repeats)))};
  std::map<std::string, int> occurrences;
  for (const OperatorCall& call : recipe.batch()) {
    mix_plainly(samples, call, plan, occurrences[call.name]++, how);
    how.distance *= call.name == "mosaic" ? 4 : 2;
  }
  return samples;
}

void expect_plainly_mixed(const MemoryDataset& data, const Recipe& recipe, const LoaderOptions& options,
                          const std::string& what) {
  for (const int epoch : {0, 3}) {
    Loader loader(data.dataset, recipe, options);
    const Samples want = plainly_mixed(data, recipe, options, epoch), got = samples_of(loader, epoch);
    ASSERT_EQ(got.size(), want.size()) << what;
    for (const auto& [position, outputs] : want) {
      EXPECT_EQ(got.at(position), outputs) << what << ", position " << position;
    }
  }
}

TEST(LoaderMix, MakesOfSamplesWhatPlainLoopsMakeOfThem) {
  const MemoryDataset data = memory_dataset();
  for (const Recipe& recipe : mixing_recipes()) {
    expect_plainly_mixed(data, recipe, options_of(8), to_string(recipe.batch().front()));
  }
}

TEST(LoaderMix, ChangesMostSamples) {
  const MemoryDataset data = memory_dataset();
  for (const Recipe& recipe : mixing_recipes()) {
    Loader loader(data.dataset, recipe, options_of(8));
    Loader plain(data.dataset, unmixed(recipe), options_of(8));
    const Samples mixed = samples_of(loader, 0), before = samples_of(plain, 0);
    int changed = 0;
    for (const auto& [position, outputs] : mixed) changed += outputs[0] != before.at(position)[0] ? 1 : 0;
    EXPECT_GT(changed, 16) << to_string(recipe.batch().front());
  }
}

TEST(LoaderMix, LeavesSamplesAloneWhosePartnersAreNotThere) {
  const MemoryDataset data = memory_dataset({.samples = 43, .bad = {2, 4, 20, 21, 33}});
  LoaderOptions options = options_of(8);
  options.bad_sample = BadSlotPolicy::kSkip;
  for (const Tail tail : {Tail::kPad, Tail::kKeep, Tail::kDrop}) {
    options.tail = tail;
    for (const Recipe& recipe : mixing_recipes()) {
      expect_plainly_mixed(data, recipe, options, fmt::format("tail {}", to_string(tail)));
    }
  }
}

TEST(LoaderMix, FindsPartnersAcrossTheGapsOfAShorterBatch) {
  const MemoryDataset data = memory_dataset({.samples = 45});
  LoaderOptions options = options_of(16);
  options.order = OrderKind::kWindowed;
  options.window = 5;
  options.lanes = 4;
  options.tail = Tail::kKeep;
  for (const Recipe& recipe : mixing_recipes()) expect_plainly_mixed(data, recipe, options, "windowed");
}

TEST(LoaderMix, GivesRepeatedSamplesOtherPartners) {
  const MemoryDataset data = memory_dataset();
  for (const int repeats : {2, 3}) {
    LoaderOptions options = options_of(16);
    options.repeats = repeats;
    for (const Recipe& recipe : {soft().mixup(), soft().mosaic()}) {
      expect_plainly_mixed(data, recipe, options, fmt::format("{} repeats", repeats));
    }
    // Partners never are the same sample: unlike labels are what pairs of them would never have.
    Loader loader(data.dataset, images().mixup(1, 1, "batch", "pair"), options);
    Loader plain(data.dataset, images(), options);
    const int distance = repeats == 2 ? 2 : 4;
    std::map<std::int64_t, std::string> keys;
    for (const BatchPtr& batch : plain.epoch(0)) {
      for (std::size_t slot = 0; slot < 16; ++slot) keys[batch->position[slot]] = batch->key[slot];
    }
    for (const auto& [position, key] : keys) EXPECT_NE(keys.at(position ^ distance), key);
  }
}

TEST(LoaderMix, GivesCopiesInABatchOtherPartners) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_of(16);
  options.batch_repeats = 4;
  const Recipe recipe = images().mixup(1, 1, "pair", "pair");
  expect_plainly_mixed(data, recipe, options, "batch_repeats");
  Loader loader(data.dataset, recipe, options);
  for (const BatchPtr& batch : loader.epoch(0)) {
    for (std::size_t slot = 0; slot < 16; ++slot) EXPECT_NE(batch->key[slot], batch->key[slot ^ 1]);
  }
}

TEST(LoaderMix, RefusesBatchesThatDoNotDivideIntoBlocks) {
  const MemoryDataset data = memory_dataset();
  const auto refusal = [&](const Recipe& recipe, LoaderOptions options) {
    const Error error = error_of([&] { Loader(data.dataset, recipe, std::move(options)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message();
  };
  EXPECT_EQ(refusal(soft().mixup(), options_of(7)),
            "the recipe mixes samples in blocks of 2, so a rank's batch has to be a multiple of 2, not 7");
  EXPECT_THAT(refusal(soft().mosaic().mixup(), options_of(12)), HasSubstr("a multiple of 8, not 12"));
  LoaderOptions repeated = options_of(12);
  repeated.repeats = 3;
  EXPECT_THAT(refusal(soft().mixup(), repeated), HasSubstr("blocks of 8, since they are repeated"));
}

TEST(LoaderMix, FailsAtALabelThatIsNoClass) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, images().view("label").one_hot(6).mixup(), options_of(8));
  const Error error = error_of([&] { audit_of(loader, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("its label is 6, but one_hot with classes=6 takes labels from 0 to 5"));
}

// --- whatever makes them

TEST(LoaderMix, AuditsAreTheSameForEveryNumberOfThreads) {
  const MemoryDataset data = memory_dataset({.bad = {5, 6}});
  for (const Recipe& recipe : mixing_recipes()) {
    const Lines want = audit(data, recipe, options_of(8, 1));
    for (const int prefetch : {1, 5}) {
      LoaderOptions options = options_of(8, 6);
      options.prefetch = prefetch;
      EXPECT_EQ(audit(data, recipe, options), want);
    }
  }
}

TEST(LoaderMix, AuditsAreTheSameForEveryNumberOfRanks) {
  const MemoryDataset data = memory_dataset({.samples = 70, .bad = {5, 6, 50}});
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    for (const Tail tail : {Tail::kDrop, Tail::kPad, Tail::kKeep}) {
      for (const Recipe& recipe : mixing_recipes()) {
        std::vector<Lines> all;
        for (const int world : {1, 2, 4}) {
          Lines lines;
          for (int rank = 0; rank < world; ++rank) {
            LoaderOptions options{.global_batch = 32, .seed = 3, .threads = 2, .tail = tail, .bad_sample = policy};
            options.rank = rank;
            options.world = world;
            for (std::string& line : audit(data, recipe, options)) lines.push_back(std::move(line));
          }
          all.push_back(sorted(std::move(lines)));
        }
        EXPECT_EQ(all[1], all[0]);
        EXPECT_EQ(all[2], all[0]);
      }
    }
  }
}

TEST(LoaderMix, AuditsAreTheSameAtEveryTransferIndex) {
  const MemoryDataset data = memory_dataset({.width = 90, .height = 70, .bad = {3, 4, 20}, .indexed = true});
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    for (const Tail tail : {Tail::kPad, Tail::kKeep}) {
      for (const Recipe& recipe : mixing_recipes()) {
        LoaderOptions options = options_of(8);
        options.tail = tail;
        options.bad_sample = policy;
        const Lines want = audit(data, recipe, options);
        for (int index = 0; index <= kTransferIndexMax; ++index) {
          options.device = open_test_device();
          options.transfer_index = index;
          EXPECT_EQ(audit(data, recipe, options), want)
              << to_string(recipe.batch().front()) << ", transfer index " << index;
        }
      }
    }
  }
}

TEST(LoaderMix, AStateGoesOnInTheMiddleOfAnEpochWithOtherRanks) {
  const MemoryDataset data = memory_dataset({.samples = 100, .bad = {7}});
  for (const Recipe& recipe : mixing_recipes()) {
    LoaderOptions alone{.global_batch = 16, .seed = 3, .threads = 2};
    const Lines want = sorted(audit(data, recipe, alone, 1));
    Loader first(data.dataset, recipe, alone);
    first.start_epoch(0);
    Lines got;
    for (int batch = 0; batch < 3; ++batch) {
      for (std::string& line : audit_of(*first.next())) got.push_back(std::move(line));
    }
    for (int rank = 0; rank < 2; ++rank) {
      LoaderOptions options = alone;
      options.rank = rank;
      options.world = 2;
      Loader second(data.dataset, recipe, options);
      second.load_state(first.state());
      while (const BatchPtr batch = second.next()) {
        for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      }
    }
    EXPECT_EQ(sorted(got), want);
  }
}

TEST(LoaderMix, AStateOfOtherMixingIsRefused) {
  const MemoryDataset data = memory_dataset();
  Loader first(data.dataset, soft().mixup(0.2), options_of(8));
  Loader second(data.dataset, soft().mixup(0.4), options_of(8));
  EXPECT_THAT(error_of([&] { second.load_state(first.state()); }).message(), HasSubstr("recipe"));
}

TEST(LoaderMix, CountsTheTimeOfMixing) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, soft().mixup(), options_of(8));
  audit_of(loader, 1);
  EXPECT_GT(loader.metrics()[Metric::kMixNs], 0);
  Loader plain(data.dataset, soft(), options_of(8));
  audit_of(plain, 1);
  EXPECT_EQ(plain.metrics()[Metric::kMixNs], 0);
}

}  // namespace
}  // namespace stoker
