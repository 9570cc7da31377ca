// The extents of a tensor, outermost first, without a heap allocation. Threads: a value; many may read it, one may
// change it.
#pragma once

#include <algorithm>
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

  /// Of so many bytes an element; SIZE_MAX if no memory can be that large.
  std::size_t bytes(std::size_t element) const {
    if (std::find(extents().begin(), extents().end(), 0) != extents().end()) return 0;
    for (const std::int64_t extent : extents()) {
      if (__builtin_mul_overflow(element, extent, &element)) return SIZE_MAX;
    }
    return element;
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
