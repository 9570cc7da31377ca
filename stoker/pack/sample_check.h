// What a job finds out about a sample from its bytes: checksums, what its image is, and whether it is sound.
#pragma once

#include <span>
#include <string>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/sample_row.h"

namespace stoker {

enum class CheckDepth {
  kChecksums,  // nothing is looked at but bytes
  kHeaders,    // images tell their facts
  kDecoded,    // and are decoded once
};

/// One per thread.
class SampleChecker {
 public:
  explicit SampleChecker(CheckDepth depth) : depth_(depth) {}

  /// Fills in the row's checksums, facts and soundness. Returns why the sample is bad, or nothing: also when a checksum
  /// that was in the row already does not match. `entry_points` become those of its image, as far as that is decoded.
  std::string check(SampleRow& row, std::span<const Bytes> fields, std::vector<std::uint8_t>& entry_points);

 private:
  std::string check_image(SampleRow& row, const SampleField& field, Bytes encoded, bool is_its_image,
                          std::vector<std::uint8_t>& entry_points);

  CheckDepth depth_;
  AnyImageDecoder decoder_;
};

/// Why a sample that has no image is bad: nothing that trains on images can use it.
std::string lacks_image(const SampleRow& row);

/// Computes the checksums of one field's bytes; those of chunks are added to `chunk_crcs`.
void set_checksums(SampleField& field, Bytes bytes, std::vector<std::uint32_t>& chunk_crcs);

}  // namespace stoker
