// The kernel beside the definition, element by element: bit for bit.
#include "stoker/ops/kernels/mix/mix_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "stoker/ops/kernels/mix/mix_numbers.h"
#include "stoker/ops/kernels/mix/mix_testing.h"
#include "stoker/ops/kernels/resample/kernel_testing.h"

namespace stoker {
namespace {

class MixPicturesOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, MixPicturesOn, testing::ValuesIn(kIsaNames), isa_name);

void expect_agreement(ImageSize size, TensorFormat format, int group, std::uint32_t seed) {
  Noise noise(seed);
  const std::vector<MixDraw> mixes = random_mixes(group, size, noise);
  std::vector<std::vector<std::uint8_t>> want = random_tensors(group, size, format.dtype, noise);
  std::deque<FencedBytes> fenced;
  std::vector<std::uint8_t*> got;
  for (const std::vector<std::uint8_t>& tensor : want) {
    fenced.emplace_back(tensor.size(), seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore);
    got.push_back(fenced.back().data());
    std::copy(tensor.begin(), tensor.end(), got.back());
  }
  mix_plainly(want, mixes, format, size);
  mix_pictures(got, mixes, format, size);
  for (std::size_t m = 0; m < want.size(); ++m) {
    const auto at = std::mismatch(want[m].begin(), want[m].end(), got[m]).first - want[m].begin();
    ASSERT_EQ(at, std::ssize(want[m])) << fmt::format("{} x {} {} {}, seed {}, tensor {} of {}", size.width,
                                                      size.height, to_string(format.dtype), to_string(format.layout),
                                                      seed, m, group);
  }
}

TEST_P(MixPicturesOn, AgreeWithTheDefinitionInEveryFormatAtAwkwardSizes) {
  std::uint32_t seed = 0;
  for (const ImageSize size :
       {ImageSize{1, 1}, {1, 7}, {5, 1}, {3, 2}, {31, 17}, {32, 32}, {45, 9}, {700, 3}, {2, 900}}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kU8}) {
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        for (const int group : {2, 2, 2, 4}) {
          expect_agreement(size, {dtype, layout}, group, seed++);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(MixPictures, BlendIsTheWeightedSumRoundedOnce) {
  std::vector<std::uint8_t> a = {10, 200, 255}, b = {20, 100, 0};
  const MixDraw mix{.kind = MixDraw::Kind::kBlend, .weight = {0.25f, 0.75f}};
  std::uint8_t* const tensors[] = {a.data(), b.data()};
  const MixDraw mixes[] = {mix, mix};
  mix_pictures(tensors, mixes, {DType::kU8, Layout::kNchw}, {1, 1});
  EXPECT_EQ(a, (std::vector<std::uint8_t>{18, 125, 64})) << "17.5 goes to even, 63.75 up";
  EXPECT_EQ(b, (std::vector<std::uint8_t>{12, 175, 191})) << "12.5 goes to even";
}

TEST(MixPictures, PasteSwapsTheBoxAndQuartersTurnAroundTheCorner) {
  const auto picture = [](std::uint8_t value) { return std::vector<std::uint8_t>(3 * 4 * 3, value); };
  std::vector<std::vector<std::uint8_t>> p = {picture(0), picture(1), picture(2), picture(3)};
  std::vector<std::uint8_t*> tensors;
  for (auto& pixels : p) tensors.push_back(pixels.data());
  const MixDraw corner{.kind = MixDraw::Kind::kQuarters, .left = 1, .top = 2};
  const std::vector<MixDraw> mixes(4, corner);
  mix_pictures(tensors, mixes, {DType::kU8, Layout::kNchw}, {3, 4});
  // Rows of the first channel.
  EXPECT_EQ(std::vector<std::uint8_t>(p[0].begin(), p[0].begin() + 12),
            (std::vector<std::uint8_t>{0, 1, 1, 0, 1, 1, 2, 3, 3, 2, 3, 3}));
  EXPECT_EQ(std::vector<std::uint8_t>(p[2].begin(), p[2].begin() + 12),
            (std::vector<std::uint8_t>{2, 3, 3, 2, 3, 3, 0, 1, 1, 0, 1, 1}));
}

TEST(MixNumbers, AreSumsInTheOrderOfThePartners) {
  std::vector<std::vector<float>> labels = {{1, 0, 0.5f}, {0, 1, 0.25f}, {0, 0, 3}, {7, 0, 0}};
  const std::vector<std::vector<float>> before = labels;
  std::vector<std::uint8_t*> vectors;
  for (auto& label : labels) vectors.push_back(reinterpret_cast<std::uint8_t*>(label.data()));
  std::vector<MixDraw> mixes(4, {.kind = MixDraw::Kind::kQuarters, .weight = {0.1f, 0.2f, 0.3f, 0.4f}});
  mixes[3] = {};
  mix_numbers(vectors, mixes, 3);
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t i = 0; i < 3; ++i) {
      float sum = before[m][i] * 0.1f;
      sum += before[m ^ 1][i] * 0.2f;
      sum += before[m ^ 2][i] * 0.3f;
      sum += before[m ^ 3][i] * 0.4f;
      EXPECT_EQ(labels[m][i], sum);
    }
  }
  EXPECT_EQ(labels[3], before[3]);
}

}  // namespace
}  // namespace stoker
