// The seam for running a plan on one sample. There are two executors, an obviously correct one and a fast one; they
// agree bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/ops/geometry.h"
#include "stoker/plan/field_window.h"
#include "stoker/plan/function_calls.h"
#include "stoker/plan/plan.h"

namespace stoker {

struct SampleInput {
  std::span<const Bytes> fields;           // by Plan::fields()
  std::span<const FieldWindow> windows{};  // the same order: which parts of each were read; empty: all of all
  Bytes entry_points{};                    // of one of them, if an index has them (ImageDecoder::decode_planes)
  int entry_points_of = -1;                // of which
  bool has_faults = false;                 // an index knows that not all of its data are sound
  std::int64_t label = -1;
  SampleDraw draw{};
};

/// Asked for the memory that a sample is about to take: waits until it is available, or refuses it.
class MemoryGate {
 public:
  virtual ~MemoryGate() = default;
  /// About `bytes` of scratch memory will be held until the sample is done. Returns the time waited, in nanoseconds.
  /// Throws kMemory, kClosed.
  virtual std::int64_t enter(std::uint64_t bytes) = 0;
  /// Requested when the sample is not wanted any more.
  virtual std::stop_token stop() const { return {}; }
};

/// Executors keep scratch memory between samples: one per thread. The plan must outlive them.
class SampleExecutor {
 public:
  explicit SampleExecutor(const Plan& plan) : plan_(plan) {}
  virtual ~SampleExecutor() = default;

  const Plan& plan() const { return plan_; }

  /// Writes every output but those that functions of whole batches give, and the views that these take. Throws
  /// kBadSample for bad bytes.
  virtual void run(const SampleInput& sample, const OutputPlaces& place) = 0;
  /// Calls the functions of whole batches. Throws what FunctionCalls::run_batch() does.
  virtual void run_batch(const WholeBatch& batch) = 0;

 protected:
  const Plan& plan_;
};

/// One sample's outputs on their own, for `view`, Python's Recipe.apply and tests.
struct SampleOutput {
  OutputSpec spec;
  std::vector<std::uint8_t> bytes;
};
std::vector<SampleOutput> run_one(SampleExecutor& executor, const SampleInput& sample);

/// Writes the value of a plain view, little-endian, to where `place` says for its shape. Throws kBadSample, what
/// write_one_hot() does, and what `place` does.
void write_plain(const ViewPlan& view, const SampleInput& sample,
                 const std::function<MutableBytes(const Shape& shape)>& place);

}  // namespace stoker
