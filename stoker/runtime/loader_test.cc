#include "stoker/runtime/loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "stoker/base/error_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TEST(Loader, GivesTheSameBatchesForAnyThreadsAndPrefetch) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.batch = 8, .seed = 5, .threads = 1, .prefetch = 1});
  const auto want = audit_of(alone, 3);
  EXPECT_EQ(want.size(), 3u * 48);
  EXPECT_EQ(std::set<std::string>(want.begin(), want.end()).size(), want.size());
  for (const int threads : {1, 2, 3, 8}) {
    for (const int prefetch : {1, 2, 7}) {
      Loader loader(data.dataset, small_recipe(), {.batch = 8, .seed = 5, .threads = threads, .prefetch = prefetch});
      EXPECT_EQ(audit_of(loader, 3), want) << threads << " threads, prefetch " << prefetch;
    }
  }
}

TEST(Loader, CountsEverySampleOnceInEvaluationOnAnyNumberOfRanks) {
  const MemoryDataset data = memory_dataset();
  const Recipe recipe = Recipe().decode().resize(16, 16);
  for (const int world : {1, 2, 3, 5, 7, 16, 64}) {
    for (const OrderKind order : {OrderKind::kNone, OrderKind::kGlobal}) {
      for (const Tail tail : {Tail::kPad, Tail::kKeep}) {
        std::vector<std::string> seen;
        std::set<std::int64_t> batches;
        for (int rank = 0; rank < world; ++rank) {
          Loader loader(data.dataset, recipe,
                        {.batch = 3, .threads = 1, .order = order, .rank = rank, .world = world, .tail = tail});
          std::int64_t count = 0;
          for (const BatchPtr& batch : loader.epoch(0)) {
            ++count;
            for (int slot = 0; slot < batch->size(); ++slot) {
              EXPECT_TRUE(batch->valid(slot) || tail == Tail::kPad);
              if (batch->valid(slot)) seen.push_back(batch->key[static_cast<std::size_t>(slot)]);
            }
          }
          EXPECT_EQ(count, loader.batches_per_epoch());
          batches.insert(count);
        }
        if (tail == Tail::kPad) {
          EXPECT_EQ(batches.size(), 1u) << "no rank waits for another";
        } else {
          EXPECT_LE(*batches.rbegin() - *batches.begin(), 1);
        }
        EXPECT_EQ(seen.size(), 50u) << world;
        EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 50u) << world;
      }
    }
  }
}

TEST(Loader, DeliversTheSameWhetherTheTailIsPaddedOrKept) {
  const MemoryDataset data = memory_dataset({.bad = {3, 44}});
  for (const OrderKind order : {OrderKind::kGlobal, OrderKind::kWindowed}) {
    for (const int world : {1, 2, 4}) {
      for (int rank = 0; rank < world; ++rank) {
        LoaderOptions options{.global_batch = 32, .threads = 2, .order = order, .rank = rank, .world = world};
        if (order == OrderKind::kWindowed) options.lanes = 16, options.window = 4;
        options.tail = Tail::kPad;
        Loader padded(data.dataset, small_recipe(), options);
        options.tail = Tail::kKeep;
        Loader kept(data.dataset, small_recipe(), options);
        EXPECT_EQ(audit_of(kept, 3), audit_of(padded, 3)) << "rank " << rank << " of " << world;
      }
    }
  }
}

TEST(Loader, LeavesARankWithoutSamplesNothingToDo) {
  const MemoryDataset data = memory_dataset({.samples = 3});
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .rank = 1, .world = 2, .tail = Tail::kKeep});
  EXPECT_EQ(loader.batches_per_epoch(), 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(loader.next(), nullptr);
    EXPECT_EQ(loader.position(), (LoaderPosition{epoch, 1})) << "as on the rank that has them";
  }
}

TEST(Loader, GivesTheSameBatchesWhileKnobsChange) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.batch = 4, .threads = 1});
  const auto want = audit_of(alone, 4);
  Loader turned(data.dataset, small_recipe(), {.batch = 4, .threads = 2});
  std::vector<std::string> got;
  int turn = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const BatchPtr& batch : turned.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      ++turn;
      turned.set({.threads = 1 + turn * 3 % 5, .prefetch = 1 + turn * 2 % 4});
      EXPECT_EQ(turned.threads(), 1 + turn * 3 % 5);
      EXPECT_EQ(turned.prefetch(), 1 + turn * 2 % 4);
    }
  }
  EXPECT_EQ(got, want);
}

TEST(Loader, ChangesNoKnobWhereItRefusesOne) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options{.batch = 4, .threads = 2, .prefetch = 2, .io_depth = 8};
  options.memory = memory_bytes_min(*data.dataset, small_recipe(), options);
  Loader loader(data.dataset, small_recipe(), options);
  const Knobs refused[] = {
      {.threads = 1, .prefetch = 1, .io_depth = 0},
      {.threads = 1, .prefetch = 1, .transfer_index = 1, .io_depth = 4},
      {.threads = 1, .prefetch = 1 << 20, .io_depth = 4},
      {.threads = -1, .prefetch = 1, .io_depth = 4},
      {.threads = 4000, .prefetch = 1, .io_depth = 4},  // for which there is too little memory
  };
  for (const Knobs& knobs : refused) {
    EXPECT_THROW(loader.set(knobs), Error);
    EXPECT_EQ(loader.threads(), 2);
    EXPECT_EQ(loader.prefetch(), 2);
    EXPECT_EQ(loader.io_depth(), 8);
    EXPECT_EQ(loader.transfer_index(), 3);
  }
  loader.set({.threads = 1, .prefetch = 1, .io_depth = 4});
  EXPECT_EQ(loader.threads() + loader.prefetch() + loader.io_depth(), 6);
}

TEST(Loader, GivesTheSameBatchesWhateverTheOrderOfReads) {
  const MemoryDataset plain = memory_dataset();
  Loader reference(plain.dataset, small_recipe(), {.batch = 6, .threads = 1});
  const auto want = audit_of(reference, 1);

  // One epoch, in which no sample appears twice and so each has a read of its own.
  const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 6, .threads = 2, .epochs_end = 1});
  std::jthread storage([&] {  // completes the reads of each batch from the last to the first
    for (int batch = 0; batch < 8; ++batch) {
      held.source->wait_until_held(6);
      for (std::size_t read = 6; read-- > 0;) held.source->release(read);
    }
  });
  EXPECT_EQ(audit_of(loader, 1), want);
}

TEST(Loader, RanksShareTheGlobalBatches) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.global_batch = 12, .tail = Tail::kPad});
  auto want = audit_of(alone, 2);
  for (const int world : {2, 3, 6}) {
    std::vector<std::string> got;
    for (int rank = 0; rank < world; ++rank) {
      Loader loader(data.dataset, small_recipe(),
                    {.global_batch = 12, .rank = rank, .world = world, .tail = Tail::kPad});
      EXPECT_EQ(loader.batch_size(), 12 / world);
      for (std::string& line : audit_of(loader, 2)) got.push_back(std::move(line));
    }
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    EXPECT_EQ(got, want) << world;
  }
}

TEST(Loader, TheWindowedOrderIsTheSameForAnyThreadsAndRanks) {
  const MemoryDataset data = memory_dataset();
  const LoaderOptions windowed{.global_batch = 12,
                               .seed = 5,
                               .threads = 1,
                               .prefetch = 1,
                               .order = OrderKind::kWindowed,
                               .window = 5,
                               .lanes = 6,
                               .tail = Tail::kPad};
  Loader alone(data.dataset, small_recipe(), windowed);
  const auto want = audit_of(alone, 3);
  EXPECT_EQ(want.size(), 3u * 50);
  for (const int world : {1, 2, 3, 6}) {
    std::vector<std::string> got;
    for (int rank = 0; rank < world; ++rank) {
      LoaderOptions options = windowed;
      options.rank = rank;
      options.world = world;
      options.prefetch = options.threads = 1 + world % 3;
      Loader loader(data.dataset, small_recipe(), options);
      for (std::string& line : audit_of(loader, 3)) got.push_back(std::move(line));
    }
    if (world == 1) {
      EXPECT_EQ(got, want);
    }
    EXPECT_THAT(got, testing::UnorderedElementsAreArray(want)) << world;
  }
  LoaderOptions wider = windowed;
  wider.window = 6;
  Loader other(data.dataset, small_recipe(), wider);
  EXPECT_NE(audit_of(other, 3), want);
}

TEST(Loader, TheWindowedOrderShufflesShards) {
  const std::vector<std::uint8_t> image = noisy_jpeg(20, 20, 1);
  const std::string bytes(image.begin(), image.end());
  const TempFolder folder;
  for (char shard = 'a'; shard <= 'f'; ++shard) {
    folder.write(fmt::format("{}.tar", shard), tar_member(fmt::format("{}1.jpg", shard), bytes) +
                                                   tar_member(fmt::format("{}2.jpg", shard), bytes) + tar_end());
  }
  Loader loader(open(folder.path("*.tar")), small_recipe(),
                {.batch = 12, .order = OrderKind::kWindowed, .window = 1, .lanes = 1});
  const BatchPtr batch = loader.next();
  int neighbours = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const std::string_view key = batch->key[i], next = batch->key[(i + 1) % 12];
    if (key[1] == '1') {
      EXPECT_EQ(next, fmt::format("{}2", key[0])) << "a shard's samples stay together";
    } else {
      neighbours += next[0] == key[0] + 1;
    }
  }
  EXPECT_LT(neighbours, 5) << "the shards stand as they were given";
}

TEST(Loader, TailsDropWrapPadAndKeep) {
  const MemoryDataset data = memory_dataset({.samples = 10});
  const auto count = [&](Tail tail) {
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .tail = tail});
    std::pair<int, int> batches_and_valid{0, 0};
    for (const BatchPtr& batch : loader.epoch(0)) {
      ++batches_and_valid.first;
      batches_and_valid.second += batch->valid_count();
      for (int slot = 0; slot < batch->size(); ++slot) {
        if (batch->valid(slot)) continue;
        EXPECT_THAT(batch->slot_bytes(0, slot), testing::Each(0));
        EXPECT_EQ(reinterpret_cast<const std::int64_t*>(batch->output("label").data)[slot], -100);
        EXPECT_TRUE(batch->key[static_cast<std::size_t>(slot)].empty());
      }
      if (tail == Tail::kKeep) {
        EXPECT_EQ(batch->size(), batch->index == 2 ? 2 : 4);
        EXPECT_EQ(batch->output("image").shape, (Shape{batch->size(), 3, 16, 16}));
        EXPECT_EQ(batch->key.size(), static_cast<std::size_t>(batch->size()));
      }
    }
    EXPECT_EQ(loader.batches_per_epoch(), batches_and_valid.first);
    return batches_and_valid;
  };
  EXPECT_EQ(count(Tail::kDrop), std::pair(2, 8));
  EXPECT_EQ(count(Tail::kWrap), std::pair(3, 12));
  EXPECT_EQ(count(Tail::kPad), std::pair(3, 10));
  EXPECT_EQ(count(Tail::kKeep), std::pair(3, 10));
}

TEST(Loader, WrapsPadsAndKeepsADataSetSmallerThanABatch) {
  const MemoryDataset data = memory_dataset({.samples = 3});
  for (const auto& [tail, valid] : {std::pair{Tail::kWrap, 8}, std::pair{Tail::kPad, 3}, std::pair{Tail::kKeep, 3}}) {
    Loader loader(data.dataset, small_recipe(), {.batch = 8, .tail = tail});
    EXPECT_EQ(loader.batches_per_epoch(), 1);
    EXPECT_EQ(loader.next()->valid_count(), valid);
  }
}

TEST(Loader, DeliversLabelsKeysAndPositions) {
  const MemoryDataset data = memory_dataset({.samples = 20});
  Loader loader(data.dataset, small_recipe(), {.batch = 5, .order = OrderKind::kNone});
  std::int64_t expected = 0;
  for (const BatchPtr& batch : loader.epoch(0)) {
    const TensorView label = batch->output("label");
    for (int slot = 0; slot < 5; ++slot, ++expected) {
      const auto at = static_cast<std::size_t>(slot);
      EXPECT_EQ(reinterpret_cast<const std::int64_t*>(label.data)[slot], expected % 7);
      EXPECT_EQ(batch->key[at], fmt::format("sample{}", expected));
      EXPECT_EQ(batch->position[at], expected);
    }
  }
  EXPECT_EQ(expected, 20);
}

TEST(Loader, RefusesOptionsThatMakeNoSense) {
  const MemoryDataset data = memory_dataset();
  const auto refusal = [&](LoaderOptions options) {
    return std::string(error_of([&] { Loader(data.dataset, small_recipe(), options); }).what());
  };
  EXPECT_THAT(refusal({}), HasSubstr("give either batch"));
  EXPECT_THAT(refusal({.batch = 4, .global_batch = 4}), HasSubstr("give either batch"));
  EXPECT_THAT(refusal({.global_batch = 5, .rank = 0, .world = 2}), HasSubstr("cannot be divided"));
  EXPECT_THAT(refusal({.global_batch = std::int64_t{1} << 32}), HasSubstr("more than the"));
  EXPECT_THAT(refusal({.global_batch = 4, .rank = 0, .world = 0}), HasSubstr("does not exist"));
  EXPECT_THAT(refusal({.batch = 4, .threads = 5000}), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal({.batch = 4, .memory = 0}), HasSubstr("budget of 0 B cannot work"));
  EXPECT_THAT(refusal({.batch = INT_MAX, .memory = 1 << 30, .tail = Tail::kPad}), HasSubstr("cannot work"));
  EXPECT_THAT(refusal({.batch = 4, .rank = 2, .world = 2}), HasSubstr("does not exist"));
  EXPECT_THAT(refusal({.batch = 4, .window = 9}), HasSubstr("the order global has no window"));
  EXPECT_THAT(refusal({.batch = 4, .order = OrderKind::kNone, .lanes = 2}), HasSubstr("the order none has no lanes"));
  EXPECT_THAT(refusal({.batch = 4, .order = OrderKind::kWindowed}), HasSubstr("among 8 lanes; use a number of lanes"));
  EXPECT_THAT(refusal({.batch = 4, .order = OrderKind::kWindowed, .rank = 0, .world = 3}),
              HasSubstr("among 3 ranks; use a number of lanes"));
  EXPECT_THAT(refusal({.batch = 51}), HasSubstr("fewer than one global batch"));
  EXPECT_THAT(refusal({.batch = 4, .threads = -1}), HasSubstr("threads must be"));
  EXPECT_THAT(refusal({.batch = 4, .prefetch = 0}), HasSubstr("prefetch must be"));
  EXPECT_EQ(error_of([&] { Loader(memory_dataset({.samples = 0}).dataset, small_recipe(), {.batch = 1}); }).kind(),
            ErrorKind::kData);
}

TEST(Loader, EndsWhereItWasToldTo) {
  const MemoryDataset data = memory_dataset({.samples = 8});
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .epochs_end = 2});
  EXPECT_EQ(error_of([&] { loader.start_epoch(2); }).kind(), ErrorKind::kUsage);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_NE(loader.next(), nullptr);
    EXPECT_EQ(loader.next(), nullptr);
  }
  EXPECT_EQ(loader.next(), nullptr) << "no epoch 2, and no waiting for one";
}

TEST(Loader, TellsHowFarItHasCome) {
  const MemoryDataset data = memory_dataset({.samples = 20});
  std::vector<std::string> told;
  Loader loader(data.dataset, small_recipe(),
                {.batch = 8, .progress = [&](const LoaderProgress& progress) {
                   told.push_back(fmt::format("{}: {}/{}, {}", progress.epoch, progress.batches,
                                              progress.batches_per_epoch, progress.samples));
                 }});
  audit_of(loader, 2);
  EXPECT_THAT(told, testing::ElementsAre("0: 1/2, 8", "0: 2/2, 16", "1: 1/2, 24", "1: 2/2, 32"));
}

TEST(Loader, RefusesBatchesWhoseBytesNoNumberHolds) {
  const MemoryDataset data = memory_dataset();
  const Recipe labels = Recipe::from_toml("[[view]]\nname = \"label\"\n");
  // 2^31 batches of 2^30 labels of 8 bytes are 2^64 bytes.
  const LoaderOptions options{.batch = 1 << 30, .prefetch = INT_MAX, .memory = 1 << 30, .tail = Tail::kPad};
  EXPECT_EQ(error_of([&] { Loader(data.dataset, labels, options); }).kind(), ErrorKind::kMemory);
}

TEST(Loader, StartsAnyEpochAtAnyTime) {
  const MemoryDataset data = memory_dataset();
  Loader reference(data.dataset, small_recipe(), {.batch = 8});
  std::vector<std::vector<std::string>> epochs(6);
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (const BatchPtr& batch : reference.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) epochs[static_cast<std::size_t>(epoch)].push_back(std::move(line));
    }
  }
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .threads = 2});
  for (const int epoch : {4, 0, 0, 5, 1, 2, 2}) {
    int taken = 0;
    std::vector<std::string> got;
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      if (++taken == 1 + epoch) break;  // leaves the epoch early
    }
    const auto& want = epochs[static_cast<std::size_t>(epoch)];
    EXPECT_EQ(got, std::vector<std::string>(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(got.size())))
        << epoch;
  }
}

TEST(Loader, RefusesIteratorsOfAnEpochThatEndedForAnother) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .threads = 1});
  Loader::Epoch first = loader.epoch(0);
  Loader::Epoch::Iterator old = first.begin();
  Loader::Epoch second = loader.epoch(1);
  Loader::Epoch::Iterator now = second.begin();
  EXPECT_EQ((*now)->index, 0);
  EXPECT_THAT(error_of([&] { ++old; }).message(), HasSubstr("epoch has ended"));
  EXPECT_THAT(error_of([&] { first.begin(); }).message(), HasSubstr("epoch has ended"));
  ++now;
  EXPECT_EQ((*now)->epoch, 1);
  EXPECT_EQ((*now)->index, 1) << "the others took no batch";
}

TEST(Loader, PlainIterationCountsEpochsUp) {
  const MemoryDataset data = memory_dataset({.samples = 8});
  Loader loader(data.dataset, small_recipe(), {.batch = 4});
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int batch = 0; batch < 2; ++batch) EXPECT_EQ(loader.next()->epoch, epoch);
    EXPECT_EQ(loader.next(), nullptr);
  }
  EXPECT_EQ(loader.metrics()[Metric::kEpochs], 3);
  EXPECT_EQ(loader.metrics()[Metric::kSamples], 24);
}

TEST(Loader, DrawsNothingBeyondTheLastEpoch) {
  const MemoryDataset data = memory_dataset({.samples = 8});
  Loader loader(data.dataset, small_recipe(), {.batch = 4, .prefetch = 4, .epochs_end = 1});
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < 8; ++i) bytes += static_cast<std::int64_t>(data.dataset->row(i).fields[0].length);
  EXPECT_EQ(audit_of(loader, 1).size(), 8u);
  loader.close();
  EXPECT_EQ(loader.metrics()[Metric::kBytesRead], bytes);
}

TEST(Loader, WritesTheAuditOfWhatItDelivers) {
  const MemoryDataset data = memory_dataset({.samples = 9});
  const TempFolder folder;
  const std::string path = folder.path("audit.jsonl");
  std::vector<std::string> want;
  {
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .tail = Tail::kPad, .audit = path});
    want = audit_of(loader, 2);
  }
  std::ifstream file(path);
  std::vector<std::string> got;
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row.size(), 4u);
    got.push_back(fmt::format("{} {} {} {}", row["epoch"].get<int>(), row["position"].get<int>(),
                              row["key"].get<std::string>(), row["hash"].get<std::string>()));
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(got.size(), 18u);
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), {.batch = 4, .audit = "/nonexistent/audit"}); }).kind(),
            ErrorKind::kIo);
}

}  // namespace
}  // namespace stoker
