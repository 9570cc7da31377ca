#include "stoker/ops/kernels/resample/row_kernels.h"

#include "stoker/base/simd_targets.h"
#include "stoker/ops/kernels/resample/kernel_testing.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>

namespace stoker {
namespace {

TEST(InstructionSets, AreNamedWithThoseSkipped) {
  const std::vector<std::string> there = available_isas();
  std::string run, skipped;
  for (const char* name : kIsaNames) {
    const bool has = std::find(there.begin(), there.end(), name) != there.end();
    (has ? run : skipped) += std::string(" ") + name;
  }
  std::cout << "kernels run on:" << run << "; skipped:" << (skipped.empty() ? " none" : skipped) << '\n';
  EXPECT_FALSE(run.empty());
}

class RowKernelsOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, RowKernelsOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(RowKernelsOn, AreThoseOfTheSelectedInstructionSet) {
  const std::map<std::string, std::pair<std::int64_t, int>> expected = {
      {"avx3_dl", {HWY_AVX3, 16}},  // which these kernels have no use for
      {"avx3", {HWY_AVX3, 16}},    {"avx2", {HWY_AVX2, 8}},    {"sse4", {HWY_SSE4, 4}},
      {"neon", {HWY_NEON, 4}},     {"scalar", {HWY_EMU128, 4}}};
  EXPECT_EQ(active_isa(), GetParam());
  EXPECT_EQ(row_kernels().target, expected.at(GetParam()).first) << hwy::TargetName(row_kernels().target);
  EXPECT_EQ(row_kernels().lanes, expected.at(GetParam()).second);
}

void use_kernels_first_on_scalar() {
  setenv("STOKER_ISA", "scalar", 1);
  std::exit(row_kernels().target == HWY_EMU128 ? 0 : 1);
}

TEST(RowKernelsDeathTest, HonourTheEnvironmentOnFirstUse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use_kernels_first_on_scalar(), testing::ExitedWithCode(0), "");
}

TEST_P(RowKernelsOn, SplitPixelsIntoPlanesAndBackWithoutTouchingAnythingElse) {
  for (const FencedBytes::Fence fence : {FencedBytes::Fence::kAfter, FencedBytes::Fence::kBefore}) {
    for (std::size_t count = 1; count <= 200; ++count) {
      FencedBytes pixels(3 * count, fence), again(3 * count, fence);
      FencedBytes p0(count, fence), p1(count, fence), p2(count, fence);
      Noise noise(static_cast<std::uint32_t>(count));
      for (std::size_t i = 0; i < 3 * count; ++i) pixels.data()[i] = noise.byte();
      std::uint8_t* const planes[] = {p0.data(), p1.data(), p2.data()};
      row_kernels().deinterleave(pixels.data(), count, planes);
      for (std::size_t i = 0; i < 3 * count; ++i)
        ASSERT_EQ(planes[i % 3][i / 3], pixels.data()[i]) << count << " " << i;
      row_kernels().interleave(planes, count, again.data());
      ASSERT_EQ(std::memcmp(again.data(), pixels.data(), 3 * count), 0) << count;
    }
  }
}

TEST(WeightHalves, MakeTheWeightAgain) {
  for (const std::int32_t weight : {0, 1, -1, 2047, 2048, -2047, -2048, -2049, 1 << 22, -(1 << 22), 9 << 19, -(1 << 19),
                                    (1 << 26) - 1, -(1 << 26)}) {
    EXPECT_EQ(high_weight(weight) * (1 << kLowWeightBits) + low_weight(weight), weight);
    EXPECT_GE(low_weight(weight), 0);
    EXPECT_LT(low_weight(weight), 1 << kLowWeightBits);
  }
}

}  // namespace
}  // namespace stoker
