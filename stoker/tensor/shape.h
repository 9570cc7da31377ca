// The extents of a tensor, outermost first, without a heap allocation. Threads: a value; many may read it, one may
// change it.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace stoker {

class Shape {
 public:
  static constexpr std::size_t kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) {
    for (const std::int64_t extent : extents) append(extent);
  }

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t axis) const {
    assert(axis < rank_);
    return extents_[axis];
  }
  std::span<const std::int64_t> extents() const { return {extents_.data(), rank_}; }

  /// The product of the extents, which must fit; 1 for a scalar.
  std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : extents()) {
      [[maybe_unused]] const bool overflow = __builtin_mul_overflow(product, extent, &product);
      assert(!overflow);
    }
    return product;
  }

  void append(std::int64_t extent) {
    assert(rank_ < kMaxRank && extent >= 0);
    extents_[rank_++] = extent;
  }
  /// This shape with one more, outermost, extent.
  Shape with_outer(std::int64_t extent) const {
    Shape result{extent};
    for (const std::int64_t inner : extents()) result.append(inner);
    return result;
  }

  friend bool operator==(const Shape& a, const Shape& b) { return a.rank_ == b.rank_ && a.extents_ == b.extents_; }

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  std::size_t rank_ = 0;
};

}  // namespace stoker
