// The seam for running a plan on one sample. Two executors stand behind it: an obviously correct one and the fast one;
// they agree bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/ops/geometry.h"
#include "stoker/plan/plan.h"

namespace stoker {

struct SampleInput {
  std::span<const Bytes> fields;  // by Plan::fields()
  std::int64_t label = -1;
  SampleDraw draw{};
};

/// Executors keep scratch memory between samples: one per thread. The plan must outlive them.
class SampleExecutor {
 public:
  virtual ~SampleExecutor() = default;

  /// The shapes this sample's outputs will have.
  virtual std::vector<OutputSpec> shapes(const SampleInput& sample) = 0;

  /// Writes every output, in recipe order, each of exactly its shape's bytes. Throws kBadSample for bad bytes.
  virtual void run(const SampleInput& sample, std::span<const MutableBytes> outputs) = 0;
};

/// One sample's outputs on their own, for `view`, Python's Recipe.apply and tests.
struct SampleOutput {
  OutputSpec spec;
  std::vector<std::uint8_t> bytes;
};
std::vector<SampleOutput> run_one(SampleExecutor& executor, const SampleInput& sample);

/// Little-endian bytes of a label output.
void write_label(std::int64_t label, MutableBytes out);

}  // namespace stoker
