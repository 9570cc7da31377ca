#include "stoker/ops/kernels/mix/mix_pictures.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "stoker/ops/color_map.h"
#include "stoker/ops/kernels/mix/blend_kernel.h"

namespace stoker {
namespace {

// What becomes of one tensor in a stretch of elements.
struct Change {
  std::size_t partner = 0;  // whose elements it takes; 0: it keeps its own
  bool blends = false;
  float own = 1, other = 0;
};

class Group {
 public:
  Group(std::span<std::uint8_t* const> tensors, std::span<const MixDraw> mixes, TensorFormat format, ImageSize size)
      : tensors_(tensors),
        mixes_(mixes),
        dtype_(format.dtype),
        element_(size_of(format.dtype)),
        interleaved_(format.layout == Layout::kNhwc),
        size_(size) {}

  void mix() const {
    std::array<int, kCutsMax> columns, rows;
    const auto column_cuts = cuts(columns, size_.width, &MixDraw::left, &MixDraw::right);
    const auto row_cuts = cuts(rows, size_.height, &MixDraw::top, &MixDraw::bottom);
    for (std::size_t j = 0; j + 1 < row_cuts.size(); ++j) {
      for (std::size_t i = 0; i + 1 < column_cuts.size(); ++i) {
        mix_part({column_cuts[i], row_cuts[j], column_cuts[i + 1] - column_cuts[i], row_cuts[j + 1] - row_cuts[j]});
      }
    }
  }

 private:
  static constexpr std::size_t kCutsMax = 2 * kMixGroupMax + 2;
  static constexpr std::size_t kChunkBytes = 4096;  // of each tensor: all of them stay in the first-level cache

  // Where something may change along a side, from 0 to its length.
  std::span<const int> cuts(std::array<int, kCutsMax>& into, int side, std::int32_t MixDraw::*low,
                            std::int32_t MixDraw::*high) const {
    std::size_t count = 0;
    into[count++] = 0;
    into[count++] = side;
    for (const MixDraw& mix : mixes_) {
      if (mix.kind == MixDraw::Kind::kKeep || mix.kind == MixDraw::Kind::kBlend) continue;
      into[count++] = std::clamp(mix.*low, 0, side);
      if (mix.kind == MixDraw::Kind::kPaste) into[count++] = std::clamp(mix.*high, 0, side);
    }
    const auto begin = into.begin(), end = begin + static_cast<std::ptrdiff_t>(count);
    std::sort(begin, end);
    return {begin, std::unique(begin, end)};
  }

  // A part in which all pixels are treated alike.
  void mix_part(Rect part) const {
    std::array<Change, kMixGroupMax> changes;
    bool any = false;
    for (std::size_t m = 0; m < mixes_.size(); ++m) {
      const MixDraw& mix = mixes_[m];
      changes[m].blends = mix.kind == MixDraw::Kind::kBlend;
      changes[m].partner = changes[m].blends ? 1 : static_cast<std::size_t>(partner_at(mix, part.x, part.y));
      changes[m].own = mix.weight[0];
      changes[m].other = mix.weight[1];
      any = any || changes[m].partner != 0;
    }
    if (!any) return;
    const auto width = static_cast<std::size_t>(size_.width), height = static_cast<std::size_t>(size_.height);
    const std::size_t pixel = interleaved_ ? ColorMap::kChannels : 1, planes = interleaved_ ? 1 : ColorMap::kChannels;
    const bool whole_rows = part.width == size_.width;
    const auto rows = static_cast<std::size_t>(part.height), columns = static_cast<std::size_t>(part.width);
    const std::size_t stretches = whole_rows ? 1 : rows, length = (whole_rows ? rows : 1) * columns * pixel;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      for (std::size_t row = 0; row < stretches; ++row) {
        const std::size_t y = static_cast<std::size_t>(part.y) + row;
        mix_stretch(((plane * height + y) * width + static_cast<std::size_t>(part.x)) * pixel, length, changes);
      }
    }
  }

  // Elements side by side in every tensor: what was there is kept aside, a chunk at a time.
  void mix_stretch(std::size_t begin, std::size_t count, const std::array<Change, kMixGroupMax>& changes) const {
    alignas(64) std::uint8_t before[kMixGroupMax][kChunkBytes];
    const std::size_t most = kChunkBytes / element_;
    for (std::size_t done = 0; done < count; done += most) {
      const std::size_t elements = std::min(most, count - done), bytes = elements * element_;
      const std::size_t at = (begin + done) * element_;
      for (std::size_t m = 0; m < tensors_.size(); ++m) std::memcpy(before[m], tensors_[m] + at, bytes);
      for (std::size_t m = 0; m < tensors_.size(); ++m) {
        const Change& change = changes[m];
        if (change.blends) {
          blend({before[m], before[m ^ 1], change.own, change.other}, elements, dtype_, tensors_[m] + at);
        } else if (change.partner != 0) {
          std::memcpy(tensors_[m] + at, before[m ^ change.partner], bytes);
        }
      }
    }
  }

  const std::span<std::uint8_t* const> tensors_;
  const std::span<const MixDraw> mixes_;
  const DType dtype_;
  const std::size_t element_;
  const bool interleaved_;
  const ImageSize size_;
};

}  // namespace

void mix_pictures(std::span<std::uint8_t* const> tensors, std::span<const MixDraw> mixes, TensorFormat format,
                  ImageSize size) noexcept {
  Group(tensors, mixes, format, size).mix();
}

}  // namespace stoker
