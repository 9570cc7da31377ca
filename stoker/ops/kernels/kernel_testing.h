// What the kernels' tests share: running on each instruction set, memory that ends at an unreadable page, and noise.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "stoker/base/isa.h"
#include "stoker/ops/taps.h"
#include "stoker/tensor/image.h"

namespace stoker {

constexpr const char* kIsaNames[] = {"avx3", "avx2", "sse4", "scalar"};

/// Runs the body with one instruction set in use; skipped, and said so, on a machine that lacks it.
class EachIsa : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    before_ = active_isa();
    const std::vector<std::string> there = available_isas();
    if (std::find(there.begin(), there.end(), GetParam()) == there.end()) {
      GTEST_SKIP() << "this machine does not have " << GetParam();
    }
    select_isa(GetParam());
  }
  void TearDown() override { select_isa(before_); }

 private:
  std::string before_;
};

inline std::string isa_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

/// A small generator of its own, so that tests do not depend on the library's.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  std::uint32_t next() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<std::uint32_t>(high - low + 1)); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(next() >> 8); }

 private:
  std::uint32_t state_;
};

/// `size` bytes with an inaccessible page right after them, or right before: reading or writing outside crashes the
/// test.
class FencedBytes {
 public:
  enum class Fence { kAfter, kBefore };

  FencedBytes(std::size_t size, Fence fence) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (size + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    memory_ = static_cast<std::uint8_t*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + page, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = memory_ + page + (fence == Fence::kAfter ? inner - size : 0);
  }
  ~FencedBytes() { munmap(memory_, mapped_); }
  FencedBytes(const FencedBytes&) = delete;
  FencedBytes& operator=(const FencedBytes&) = delete;

  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* memory_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::size_t mapped_ = 0;
};

/// How the pixels of an image may lie in memory.
enum class Strides { kInterleaved, kPlanar, kMirrored, kTransposed, kReversedChannels };
constexpr Strides kAllStrides[] = {Strides::kInterleaved, Strides::kPlanar, Strides::kMirrored, Strides::kTransposed,
                                   Strides::kReversedChannels};

/// A view over width x height x channels bytes at `bytes`, without gaps.
template <typename Byte>
BasicImageView<Byte> view_of(Byte* bytes, int width, int height, int channels, Strides strides) {
  const std::ptrdiff_t w = width, h = height, c = channels;
  switch (strides) {
    case Strides::kInterleaved: return {bytes, width, height, channels, w * c, c, 1};
    case Strides::kPlanar: return {bytes, width, height, channels, w, 1, w * h};
    case Strides::kMirrored: return {bytes + (w - 1) * c, width, height, channels, w * c, -c, 1};
    case Strides::kTransposed: return {bytes, width, height, channels, c, h * c, 1};
    case Strides::kReversedChannels: return {bytes + c - 1, width, height, channels, w * c, c, -1};
  }
  return {};
}

/// Fenced pixels of noise, a third of them extreme.
class FencedImage {
 public:
  FencedImage(int width, int height, int channels, Strides strides, FencedBytes::Fence fence, std::uint32_t seed)
      : bytes_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(channels),
               fence),
        view_(view_of(bytes_.data(), width, height, channels, strides)) {
    Noise noise(seed);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < channels; ++c) {
          const int kind = noise.between(0, 5);
          *view_.at(x, y, c) = kind == 0 ? 0 : kind == 1 ? 255 : noise.byte();
        }
      }
    }
  }
  const MutableImageView& view() const { return view_; }

 private:
  FencedBytes bytes_;
  MutableImageView view_;
};

}  // namespace stoker
