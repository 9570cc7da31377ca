// What decides whether samples are bad that their rows do not tell: what a field "cls" says that is no class number,
// and whether a sample without an image has an array. Packs know it of all samples before they write the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "stoker/format/dataset.h"

namespace stoker {

/// Of one sample that cannot be judged by its row. By the rules of SampleChecker.
struct SampleDoubt {
  std::int64_t sample = 0;
  bool lacks_class = false, lacks_array = false;  // which makes it a bad one
  bool says_unknown = false;                      // its field "cls" does: a number below 0
};

/// Threads: any, once it is made.
class SampleDoubts {
 public:
  /// Reads those fields, side by side: few bytes of each. What is damaged counts as lacking. `of_images`: whether a
  /// sample without an image, or an array in its place, is a bad one. Throws what reading throws otherwise, and
  /// kClosed.
  SampleDoubts(const Dataset& samples, bool of_images, const std::stop_token& stop);

  /// Null for a sample of which its row tells all.
  const SampleDoubt* find(std::int64_t sample) const;

 private:
  struct Queued {
    std::size_t doubt;
    SampleField field;
    Source* source;
    std::vector<std::uint8_t> bytes;
    MutableBytes into{};  // all of them
  };

  void look_at(std::int64_t sample, const SampleRow& row, bool of_images);
  void queue(const SampleRow& row, const SampleField& field, std::uint64_t bytes_max);
  void read_queued();

  std::vector<SampleDoubt> doubts_;  // in the order of the samples
  std::vector<Queued> queued_;
};

}  // namespace stoker
