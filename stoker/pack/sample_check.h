// Checks a sample's bytes for a job: checksums, and the kind and soundness of its image.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/sample_row.h"
#include "stoker/pack/sample_sweep.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

enum class CheckDepth {
  kChecksums,  // nothing is looked at but bytes
  kHeaders,    // images tell their facts
  kDecoded,    // and are decoded once
};

/// One per thread.
class SampleChecker {
 public:
  explicit SampleChecker(CheckDepth depth, const DecodeLimits& limits = {})
      : depth_(depth), limits_(limits), decoder_(std::in_place, limits) {}

  /// Fills in the row's checksums, facts and soundness. Returns why the sample is bad, or nothing: also when a checksum
  /// that was in the row already does not match. `entry_points` become those of its image, as far as that is decoded.
  /// `gate` is asked before images are decoded; null: always permitted.
  std::string check(SampleRow& row, std::span<const Bytes> fields, std::vector<std::uint8_t>& entry_points,
                    MemoryGate* gate = nullptr);
  /// Gives back the memory that was taken for the largest image so far.
  void drop_scratch() { decoder_.emplace(limits_); }

 private:
  std::string check_image(SampleRow& row, const SampleField& field, Bytes encoded, bool is_its_image,
                          std::vector<std::uint8_t>& entry_points);

  CheckDepth depth_;
  DecodeLimits limits_;
  MemoryGate* gate_ = nullptr;
  std::optional<AnyImageDecoder> decoder_;
};

/// Why a sample that has neither image nor array is bad: nothing that trains on them can use it.
std::string lacks_image(const SampleRow& row);
/// Whether the bytes are an array of numbers: a picture, perhaps, or a volume, or anything else.
bool is_array(Bytes bytes);
/// Whether one of its fields is one.
bool holds_array(const SampleRow& row, std::span<const Bytes> fields);

/// Looks at swept samples as the depth says, within the memory of their turn: for jobs that do nothing else.
std::function<void(SweptSample&)> checking(CheckDepth depth, const DecodeLimits& limits);

/// Computes the checksums of one field's bytes; those of chunks are added to `chunk_crcs`.
void set_checksums(SampleField& field, Bytes bytes, std::vector<std::uint32_t>& chunk_crcs);

}  // namespace stoker
