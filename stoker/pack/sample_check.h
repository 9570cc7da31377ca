// Checks a sample's bytes for a job: checksums, and the kind and soundness of its image.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/sample_row.h"
#include "stoker/format/shard_format.h"
#include "stoker/pack/sample_sweep.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

enum class CheckDepth {
  kChecksums,  // nothing is looked at but bytes
  kHeaders,    // images tell their facts
  kDecoded,    // and are decoded once
};

/// Whether samples with fields of these names, all that there are, have images or arrays: a sample that has neither is
/// then bad. In a set of texts or tokens it is not.
bool expects_images(std::span<const std::string> field_names);
/// The same of a scan that is at its begin. Ends at the first image, which in most shards is the first sample's.
bool expects_images(ShardScan& scan);

/// One per thread.
class SampleChecker {
 public:
  explicit SampleChecker(CheckDepth depth, const DecodeLimits& limits = {}, bool expects_images = true)
      : depth_(depth), expects_images_(expects_images), limits_(limits), decoder_(std::in_place, limits) {}

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
  bool expects_images_;
  DecodeLimits limits_;
  MemoryGate* gate_ = nullptr;
  std::optional<AnyImageDecoder> decoder_;
};

/// Why a sample that has neither image nor array is bad where the others do: nothing that trains on them can use it.
std::string lacks_image(const SampleRow& row);
/// Whether bytes, `length` of them, are an array of numbers: a picture, perhaps, or a volume, or anything else. The
/// first kNpyHeaderBytesMax are enough.
bool is_array(Bytes beginning, std::uint64_t length);
/// Whether one of its fields is one.
bool holds_array(const SampleRow& row, std::span<const Bytes> fields);

/// Looks at swept samples as the depth says, within the memory of their turn: for jobs that do nothing else.
std::function<void(SweptSample&)> checking(CheckDepth depth, const DecodeLimits& limits, bool expects_images);

/// Computes the checksums of one field's bytes; those of chunks are added to `chunk_crcs`.
void set_checksums(SampleField& field, Bytes bytes, std::vector<std::uint32_t>& chunk_crcs);

}  // namespace stoker
