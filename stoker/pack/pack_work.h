// What packing does to each sample before it is written: it is checked, transformed if that is asked for, and given its
// class number and checksums.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "stoker/pack/pack_job.h"
#include "stoker/pack/packed_shard.h"
#include "stoker/pack/sample_sweep.h"

namespace stoker {

/// Threads: any.
class PackWork {
 public:
  /// A class's number in the pack by its number in the data.
  using LabelOf = std::function<std::int64_t(std::int64_t label)>;

  /// `options` must outlive it. `of_images`: whether a sample without an image is a bad one. Throws kMemory where the
  /// budget has nothing left beside a shard in the making.
  PackWork(const PackOptions& options, bool of_images, LabelOf label_of);

  SweepOptions sweeping() const;
  /// For one thread.
  SampleSweep::Work begin() const;
  /// Of a sample that was worked on.
  bool leaves_out(const SweptSample& sample) const {
    return !sample.bad.empty() && options_.bad == BadSamplePolicy::kSkip;
  }

 private:
  const PackOptions& options_;
  const bool of_images_;
  const LabelOf label_of_;
  const std::optional<std::uint64_t> memory_;  // for samples, without a shard in the making; unset for the default
};

/// Notes that it was bad, or has damaged parts. `number`: its in the data.
void note_findings(const SweptSample& sample, std::int64_t number, PackedShard& packed);

/// Notes in the row what its field "cls", which holds this text, says of the class. Throws kUsage, as a clause, for a
/// text of the user's own in the place where the class number will be.
void heed_class(SampleRow& row, std::string_view cls);

/// Gives the row its class number, also as a field that every reader of WebDataset tars knows. Where it was given other
/// labels, of which none is its own, it loses the old one.
void label_row(SampleRow& row, std::int64_t label);
/// The same with the field's bytes.
void set_label(SweptSample& sample, std::int64_t label);

}  // namespace stoker
