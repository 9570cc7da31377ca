// Which parts of stored arrays a sample's crops need: the rest is neither read nor checked. What a crop shows follows
// from the array's shape, so its header is read before the sample is, once; docs/decisions/0034 says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/format/sample_row.h"
#include "stoker/plan/array_ranges.h"
#include "stoker/plan/field_window.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// A field of a sample, as a ticket finds it.
struct ArrayField {
  std::size_t number = 0;  // of Plan::fields()
  std::int64_t sample = 0;
  const SampleRow* row = nullptr;
  const SampleField* field = nullptr;
};

/// For one thread at a time.
class ArrayWindows {
 public:
  /// Smaller fields are read as a whole.
  static constexpr std::uint64_t kFieldBytesMin = std::uint64_t{256} << 10;

  ArrayWindows() = default;
  /// The plan must outlive it.
  explicit ArrayWindows(const Plan& plan);

  /// Whether any field of the plan is worth it.
  bool any() const { return any_; }
  /// Reads the headers that are not known yet, all at once, and waits for them. One that cannot be read is read again
  /// with its field.
  void read_headers(std::span<const ArrayField> fields);
  /// What is to be read of a field; whole where that is all, or as good. Throws kBadSample for what is not an array of
  /// numbers, or not one that the crop takes.
  void find(const ArrayField& array, const SampleDraw& draw, FieldWindow& window);

 private:
  bool may_cut(const ArrayField& array) const;
  bool decides_a_crop(std::size_t field, const SampleDraw& draw) const;
  static std::uint64_t key_of(const ArrayField& array);

  const Plan* plan_ = nullptr;
  std::vector<bool> arrays_alone_;  // by field: all views of it are arrays, and cropped
  bool any_ = false;
  std::unordered_map<std::uint64_t, ArrayLayout> layouts_;
  std::vector<std::pair<std::uint64_t, std::exception_ptr>> refused_;  // of the headers that were read last
  std::vector<ByteRange> ranges_;                                      // memory used again
};

/// Throws kBadSample if what was read of the field is not what it was when the index was made.
void check_window(const SampleRow& row, const SampleField& field, const FieldWindow& window, Bytes read);

}  // namespace stoker
