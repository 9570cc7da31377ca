// Every operator on pictures by its meaning, by the CPU's kernels on each instruction set, and by the device's grid:
// bit for bit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/host_device_testing.h"
#include "stoker/base/isa_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/ops/kernels/device/device_picture.h"
#include "stoker/ops/kernels/picture/picture_runner.h"
#include "stoker/ops/operator_table.h"
#include "stoker/ops/picture/picture_cases_testing.h"

namespace stoker {
namespace {

using Planes = std::vector<std::uint8_t>;

constexpr ImageSize kSizes[] = {{1, 1}, {1, 2},   {2, 1},   {1, 40},  {70, 1},
                                {3, 5}, {16, 16}, {33, 31}, {129, 2}, {64, 48}};

PictureChain chain_of(const std::vector<OperatorCall>& calls) {
  PictureChain chain;
  int occurrence = 0;
  for (const OperatorCall& call : calls) {
    chain.append(make_picture_operator(check_call(call)), random_stream("image", call.name, occurrence++));
  }
  return chain;
}

// Some of noise, some of few colours, some nearly grey.
Planes test_picture(ImageSize size, std::uint64_t seed) {
  Noise noise(static_cast<std::uint32_t>(seed) + 1);
  const auto pixels = static_cast<std::size_t>(size.width * size.height);
  Planes picture(3 * pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint8_t grey = noise.byte();
    for (std::size_t c = 0; c < 3; ++c) {
      switch (seed % 4) {
        case 0: picture[c * pixels + i] = noise.byte(); break;
        case 1: picture[c * pixels + i] = static_cast<std::uint8_t>(noise.byte() % 3 * 127); break;
        case 2: picture[c * pixels + i] = static_cast<std::uint8_t>(40 + grey / 2 + noise.byte() % 4); break;
        default: picture[c * pixels + i] = grey; break;
      }
    }
  }
  return picture;
}

// A picture's way through its passes; `compute` does one of them.
template <class Compute>
Planes run_passes(const Planes& picture, const PictureChain& chain, ImageSize size, const SampleDraw& draw,
                  const Compute& compute) {
  PictureSteps steps;
  chain.draw(size, draw, steps);
  const PictureLayout layout(chain.bounds(), size);
  Planes memory(layout.bytes, 0xA5);
  std::copy(picture.begin(), picture.end(), memory.begin());
  std::uint8_t *from = memory.data(), *to = from + layout.picture;
  PictureFacts facts{};
  for (std::span<const PictureStep> left = steps.all(); !left.empty();) {
    const int length = pass_length(left);
    const bool moves = traits_of(left.front().kind).reads_around;
    compute(PicturePass{.steps = left.data(),
                        .count = length,
                        .facts = &facts,
                        .in = from,
                        .out = moves ? to : from,
                        .kept = memory.data() + layout.kept,
                        .kept_stride = layout.picture,
                        .work = memory.data() + layout.work,
                        .scratch = nullptr,
                        .width = size.width,
                        .height = size.height,
                        .in_width = size.width,
                        .in_height = size.height});
    if (moves) std::swap(from, to);
    left = left.subspan(static_cast<std::size_t>(length));
  }
  return {from, from + picture.size()};
}

Planes by_meaning(const Planes& picture, const PictureChain& chain, ImageSize size, const SampleDraw& draw) {
  return run_passes(picture, chain, size, draw, compute_plainly);
}

Planes by_grid(const Planes& picture, const PictureChain& chain, ImageSize size, const SampleDraw& draw,
               std::uint32_t order) {
  return run_passes(picture, chain, size, draw, [order](const PicturePass& pass) {
    const DevicePicture device{.pass = pass,
                               .unit = traits_of(pass.steps->kind).unit,
                               .first_block = 0,
                               .statistic = statistic_of({pass.steps, static_cast<std::size_t>(pass.count)})};
    run_grid<DevicePictureFactsKernel>({.pictures = &device}, 1, order);
    if (device.unit == 1) {
      run_grid<DevicePictureKernel>({.pictures = &device, .count = 1}, DevicePictureKernel::blocks(device), order);
    } else {
      run_grid<DevicePictureBlockKernel>({.pictures = &device, .count = 1}, DevicePictureBlockKernel::blocks(device),
                                         order);
    }
  });
}

// In memory that ends where the layout does.
Planes by_kernels(const Planes& picture, const PictureChain& chain, ImageSize size, const SampleDraw& draw) {
  PictureSteps steps;
  chain.draw(size, draw, steps);
  const PictureLayout layout(chain.bounds(), size);
  const FencedBytes memory(layout.bytes, FencedBytes::Fence::kAfter);
  std::memset(memory.data(), 0x5A, layout.bytes);
  std::copy(picture.begin(), picture.end(), memory.data());
  const std::uint8_t* const result = PictureRunner().run(steps.all(), size, layout, memory.data());
  for (std::size_t i = picture.size(); i < layout.picture; ++i) {
    if (memory.data()[i] != 0x5A) ADD_FAILURE() << "byte " << i << " after a picture of " << picture.size();
  }
  return {result, result + picture.size()};
}

// A picture that chains are tried on.
struct PictureTest {
  std::string describe(const std::vector<OperatorCall>& calls) const {
    std::string text = fmt::format("{} x {}, seed {}:", size.width, size.height, seed);
    for (const OperatorCall& call : calls) text += " " + to_string(call);
    return text;
  }
  SampleDraw draw() const { return {seed, 1, seed * 7}; }

  ImageSize size;
  std::uint64_t seed;
  Planes picture;
};

// Every operator alone, and each after another one, so that runs of several steps occur.
std::vector<std::vector<OperatorCall>> tested_chains() {
  std::vector<std::vector<OperatorCall>> chains;
  const std::vector<PictureCase>& cases = picture_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const OperatorCall &call = cases[i].call, &next = cases[(i + 1) % cases.size()].call,
                       &other = cases[(i * 7 + 3) % cases.size()].call;
    chains.insert(chains.end(), {{call}, {next, call}, {call, other, next}});
  }
  return chains;
}

// Calls action(chain, test, what the chain's meaning makes of the test's picture, the chain's calls).
using PictureAction = std::function<void(const PictureChain& chain, const PictureTest& test, const Planes& want,
                                         const std::vector<OperatorCall>& calls)>;

void for_each_test(const PictureAction& action) {
  constexpr std::uint64_t kPicturesOfSize = kSanitized ? 1 : 4;  // over the chains all kinds of pictures come
  static const std::vector<std::vector<OperatorCall>> tested = tested_chains();
  static std::vector<Planes> meanings;  // the same for whatever is compared with them, and slow to make
  std::size_t next = 0;
  for (std::size_t i = 0; i < tested.size(); ++i) {
    const PictureChain chain = chain_of(tested[i]);
    std::uint64_t seed = i;
    for (const ImageSize size : kSizes) {
      for (std::uint64_t k = 0; k < kPicturesOfSize; ++k, ++next) {
        ++seed;
        const PictureTest test{size, seed, test_picture(size, seed)};
        if (next == meanings.size()) meanings.push_back(by_meaning(test.picture, chain, size, test.draw()));
        action(chain, test, meanings[next], tested[i]);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(PictureCases, HaveEveryOperator) {
  std::set<std::string_view> missing;
  for (const OperatorSpec& spec : operator_table()) {
    if (std::holds_alternative<PictureFunction>(spec.function)) missing.insert(spec.name);
  }
  for (const PictureCase& each : picture_cases()) missing.erase(each.call.name);
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(PictureCases, KeepTheirGoldenHashes) {
  for (const PictureCase& each : picture_cases()) {
    const PictureChain chain = chain_of({each.call});
    Hasher64 hasher;
    for (std::uint64_t position = 0; position < 100; ++position) {
      const ImageSize size{1 + static_cast<int>(position * 37 % 50), 1 + static_cast<int>(position * 91 % 40)};
      hasher.update(by_meaning(test_picture(size, position), chain, size, {7, position / 10, position}));
    }
    EXPECT_EQ(to_hex(hasher.digest()), each.golden) << to_string(each.call);
  }
}

TEST(PictureGrid, MakesWhatTheMeaningSays) {
  for_each_test([](const PictureChain& chain, const PictureTest& test, const Planes& want,
                   const std::vector<OperatorCall>& calls) {
    for (const std::uint32_t order : {0U, 1U}) {
      ASSERT_EQ(by_grid(test.picture, chain, test.size, test.draw(), order), want) << test.describe(calls);
    }
  });
}

class PictureKernelsOn : public EachIsa {};

TEST_P(PictureKernelsOn, MakeWhatTheMeaningSays) {
  for_each_test([](const PictureChain& chain, const PictureTest& test, const Planes& want,
                   const std::vector<OperatorCall>& calls) {
    ASSERT_EQ(by_kernels(test.picture, chain, test.size, test.draw()), want) << test.describe(calls);
  });
}

// Longer than the pieces in which kernels take rows.
TEST_P(PictureKernelsOn, MakeWhatTheMeaningSaysOfLongRows) {
  constexpr ImageSize kLong{1040, 18};
  for (const OperatorCall& call : {OperatorCall{"gaussian_blur", {{"kernel_size", Numbers{31, 3}}, {"sigma", 4.0}}},
                                   OperatorCall{"jpeg_degrade", {{"quality", 60.0}}}}) {
    const PictureChain chain = chain_of({call});
    const Planes picture = test_picture(kLong, 2);
    ASSERT_EQ(by_kernels(picture, chain, kLong, {1, 2, 3}), by_meaning(picture, chain, kLong, {1, 2, 3}))
        << to_string(call);
  }
}
INSTANTIATE_TEST_SUITE_P(Isas, PictureKernelsOn, testing::ValuesIn(kIsaNames), isa_name);

TEST(PictureChain, DrawsEachOccurrenceOfAnOperatorAnew) {
  const OperatorCall call{"brightness", {{"factor", Numbers{0.5, 1.5}}}};
  PictureSteps steps;
  chain_of({call, call}).draw({4, 4}, {1, 2, 3}, steps);
  ASSERT_EQ(steps.all().size(), 2U);
  EXPECT_NE(steps.all()[0].f[0], steps.all()[1].f[0]);
}

TEST(PictureChain, LimitsTheStepsOfAView) {
  EXPECT_NO_THROW(chain_of(std::vector<OperatorCall>(kPictureStepsMax, {"invert", {}})));
  EXPECT_THROW(chain_of(std::vector<OperatorCall>(kPictureStepsMax + 1, {"invert", {}})), Error);
}

TEST(PictureSteps, OfARunMakeOnePassUnlessTheyStandAlone) {
  PictureSteps steps;
  for (int i = 0; i < kPictureRunMax + 2; ++i) steps.add(PictureKind::kAffine);
  EXPECT_EQ(pass_length(steps.all()), kPictureRunMax);
  steps.all()[3].alone = true;
  EXPECT_EQ(pass_length(steps.all()), 3);
  EXPECT_EQ(pass_length(steps.all().subspan(3)), 1);
  steps.all()[1].kind = PictureKind::kInvert;
  EXPECT_EQ(pass_length(steps.all()), 1);
  EXPECT_EQ(pass_length(steps.all().subspan(1)), 1);
}

}  // namespace
}  // namespace stoker
