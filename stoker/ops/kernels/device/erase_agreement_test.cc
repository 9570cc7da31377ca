// Every operator that erases by its meaning, by the CPU's code on each instruction set, and by the device's grid: bit
// for bit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/host_device_testing.h"
#include "stoker/base/isa_testing.h"
#include "stoker/ops/erase/erase_cases_testing.h"
#include "stoker/ops/erase/erase_operator.h"
#include "stoker/ops/kernels/device/device_erase.h"
#include "stoker/ops/kernels/erase/erase_tensor.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

using Tensor = std::vector<std::uint8_t>;

constexpr ImageSize kSizes[] = {{1, 1}, {1, 2}, {2, 1}, {1, 60}, {90, 1}, {3, 5}, {33, 31}, {129, 4}, {64, 48}};
constexpr DType kDTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kU8};

EraseChain chain_of(const std::vector<OperatorCall>& calls) {
  EraseChain chain;
  int occurrence = 0;
  for (const OperatorCall& call : calls) {
    const auto make = std::get<EraseFunction>(find_operator(call.name).function);
    chain.append(make(check_call(call)), random_stream("image", call.name, occurrence++));
  }
  return chain;
}

Tensor blank(ImageSize size, TensorFormat format) {
  return Tensor(3 * static_cast<std::size_t>(size.width * size.height) * size_of(format.dtype), 0x77);
}

Tensor by_meaning(std::span<const EraseStep> steps, ImageSize size, TensorFormat format) {
  Tensor tensor = blank(size, format);
  for (const EraseStep& step : steps) {
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        if (!step.erases(x, y)) continue;
        for (int c = 0; c < 3; ++c) {
          const int element =
              format.layout == Layout::kNchw ? (c * size.height + y) * size.width + x : (y * size.width + x) * 3 + c;
          store_rounded(step.value_at(x, y, c), format.dtype, tensor.data(), element);
        }
      }
    }
  }
  return tensor;
}

Tensor on_cpu(std::span<const EraseStep> steps, ImageSize size, TensorFormat format, FencedBytes::Fence fence) {
  const Tensor before = blank(size, format);
  const FencedBytes tensor(before.size(), fence);
  std::copy(before.begin(), before.end(), tensor.data());
  erase_tensor(steps, size, format, tensor.data());
  return {tensor.data(), tensor.data() + before.size()};
}

// Two tensors of a batch of three, the one in the middle left alone.
void expect_grid(std::span<const EraseStep> steps, ImageSize size, TensorFormat format, std::uint32_t order,
                 const std::string& what) {
  const Tensor want = by_meaning(steps, size, format), before = blank(size, format);
  DeviceColor color(ColorMap(), format, size.width, size.height);
  color.out_begin = 16;
  Tensor out(16 + 3 * before.size(), 0x77);
  std::vector<EraseStep> table(1);  // places count from the table's begin
  table.insert(table.end(), steps.begin(), steps.end());
  const auto count = static_cast<std::int32_t>(steps.size());
  const DeviceErased tensors[] = {{.slot = 2, .first_step = 1, .step_count = count},
                                  {.slot = 0, .first_step = 1, .step_count = count}};
  const int blocks = DeviceEraseKernel::blocks_per_tensor(color);
  run_grid<DeviceEraseKernel>(
      {.out = out.data(), .tensors = tensors, .steps = table.data(), .color = color, .blocks_per_tensor = blocks},
      2 * blocks, order);
  const auto slot = [&](std::size_t i) {
    const auto* const begin = out.data() + 16 + i * before.size();
    return Tensor(begin, begin + before.size());
  };
  ASSERT_EQ(slot(0), want) << what;
  ASSERT_EQ(slot(1), before) << what;
  ASSERT_EQ(slot(2), want) << what;
}

// `action(steps, size, format, what)`.
template <class Action>
void for_each_test(const Action& action) {
  const std::vector<EraseCase>& cases = erase_cases();
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const EraseChain chain = chain_of({cases[i].call, cases[(i + 3) % cases.size()].call});
    for (const ImageSize size : kSizes) {
      for (const DType dtype : kDTypes) {
        ++seed;
        const TensorFormat format{dtype, seed % 2 == 0 ? Layout::kNchw : Layout::kNhwc};
        EraseSteps steps;
        chain.draw(size, {seed, 1, seed * 7}, steps);
        action(steps.all(), size, format,
               fmt::format("{} x {} {}, seed {}: {}", size.width, size.height, to_string(dtype), seed,
                           to_string(cases[i].call)));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(EraseCases, HaveEveryOperator) {
  std::set<std::string_view> missing;
  for (const OperatorSpec& spec : operator_table()) {
    if (std::holds_alternative<EraseFunction>(spec.function)) missing.insert(spec.name);
  }
  for (const EraseCase& each : erase_cases()) missing.erase(each.call.name);
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(EraseCases, KeepTheirGoldenHashes) {
  for (const EraseCase& each : erase_cases()) {
    const EraseChain chain = chain_of({each.call});
    Hasher64 hasher;
    for (std::uint64_t position = 0; position < 100; ++position) {
      const ImageSize size{1 + static_cast<int>(position * 37 % 50), 1 + static_cast<int>(position * 91 % 40)};
      EraseSteps steps;
      chain.draw(size, {7, position / 10, position}, steps);
      hasher.update(by_meaning(steps.all(), size, {DType::kF32, Layout::kNchw}));
    }
    EXPECT_EQ(to_hex(hasher.digest()), each.golden) << to_string(each.call);
  }
}

TEST(EraseGrid, MakesWhatTheMeaningSays) {
  for_each_test([](std::span<const EraseStep> steps, ImageSize size, TensorFormat format, const std::string& what) {
    for (const std::uint32_t order : {0U, 1U}) expect_grid(steps, size, format, order, what);
  });
}

class EraseTensorOn : public EachIsa {};

TEST_P(EraseTensorOn, MakesWhatTheMeaningSays) {
  for_each_test([](std::span<const EraseStep> steps, ImageSize size, TensorFormat format, const std::string& what) {
    const Tensor want = by_meaning(steps, size, format);
    for (const FencedBytes::Fence fence : {FencedBytes::Fence::kAfter, FencedBytes::Fence::kBefore}) {
      ASSERT_EQ(on_cpu(steps, size, format, fence), want) << what;
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Isas, EraseTensorOn, testing::ValuesIn(kIsaNames), isa_name);

TEST(EraseChain, LimitsWhatAViewErases) {
  const OperatorCall call{"cutout", {{"size", 2.0}, {"count", 32.0}}};
  EXPECT_NO_THROW(chain_of({call, call}));
  EXPECT_THROW(chain_of({call, call, {"grid_mask", {}}}), Error);
}

TEST(EraseChain, WritesDeviatesToFloatsOnly) {
  for (const char* mode : {"rand", "pixel"}) {
    const EraseChain chain = chain_of({{"random_erasing", {{"mode", mode}}}});
    EXPECT_NO_THROW(chain.check(DType::kBF16));
    EXPECT_THROW(chain.check(DType::kU8), Error);
  }
  EXPECT_NO_THROW(chain_of({{"random_erasing", {}}}).check(DType::kU8));
}

TEST(RandomErasing, RefusesArgumentsThatContradictEachOther) {
  for (const OperatorCall& call : {OperatorCall{"random_erasing", {{"scale", Numbers{0.4, 0.3}}}},
                                   OperatorCall{"random_erasing", {{"ratio", Numbers{2, 1}}}},
                                   OperatorCall{"random_erasing", {{"min_count", 3.0}, {"max_count", 2.0}}},
                                   OperatorCall{"random_erasing", {{"value", 1.0}, {"mode", "pixel"}}},
                                   OperatorCall{"grid_mask", {{"d", Numbers{9, 8}}}}}) {
    EXPECT_THROW(chain_of({call}), Error) << to_string(call);
  }
}

TEST(GridMask, ErasesSquaresAtOneDistance) {
  EraseSteps steps;
  chain_of({{"grid_mask", {{"d", 10.0}, {"ratio", 0.3}}}}).draw({60, 50}, {1, 2, 3}, steps);
  ASSERT_EQ(steps.all().size(), 1U);
  const EraseStep& step = steps.all()[0];
  int erased = 0;
  for (int y = 0; y < 50; ++y) {
    for (int x = 0; x < 60; ++x) {
      erased += step.erases(x, y) ? 1 : 0;
      EXPECT_EQ(step.erases(x, y), step.erases(x < 10 ? x + 10 : x - 10, y));
      EXPECT_EQ(step.erases(x, y), step.erases(x, y < 10 ? y + 10 : y - 10));
    }
  }
  EXPECT_EQ(erased, 6 * 5 * 3 * 3);
}

}  // namespace
}  // namespace stoker
