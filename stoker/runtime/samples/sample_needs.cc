#include "stoker/runtime/samples/sample_needs.h"

#include <algorithm>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/codec/decode_memory.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/record_field.h"
#include "stoker/plan/sample_images.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {
namespace {

constexpr std::int64_t kLookNs = 1'000'000'000;
// The images described by an index that may take more than the most so far.
constexpr std::size_t kIndexedMax = 64;
// Whether a recipe always cuts the same window out of an image.
constexpr std::uint64_t kDraws = 8;

struct Candidate {
  std::uint64_t bytes;  // that it may take, or what is coded
  std::int64_t sample;
};

void largest_first(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.sample < b.sample;
  });
}

std::uint64_t at_most(const ImageFacts& facts, std::uint64_t encoded_bytes) {
  const Rect whole{0, 0, facts.width, facts.height};
  return std::max(decode_rgb_memory(facts, encoded_bytes, whole), decode_planes_memory(facts, encoded_bytes, whole));
}

class Needs {
 public:
  Needs(const Dataset& dataset, const Plan& plan, const DecodeLimits& limits)
      : dataset_(dataset), plan_(plan), reader_(dataset, plan), images_(plan, limits) {}

  SampleNeeds largest() {
    for_each_row(dataset_, {}, [this](std::int64_t sample, const SampleRow& row) { see(sample, row); });
    largest_first(known_);
    for (std::size_t i = 0; i < std::min(known_.size(), kIndexedMax); ++i) {
      if (known_[i].bytes > largest_.decode_bytes) look_at(known_[i].sample);
    }
    largest_first(unknown_);
    const std::int64_t began = now_ns();
    for (const Candidate& candidate : unknown_) {
      look_at(candidate.sample);
      if (now_ns() - began > kLookNs) break;
    }
    return largest_;
  }

 private:
  void see(std::int64_t sample, const SampleRow& row) {
    std::uint64_t bytes = 0;
    for (const std::string& name : plan_.fields()) {
      if (const SampleField* const field = find_field(row, name)) bytes += field->length;
    }
    largest_.sample_bytes = std::max(largest_.sample_bytes, bytes);
    // Of a sample with several images the facts describe only one.
    if (row.facts && plan_.fields().size() == 1) {
      known_.push_back({at_most(*row.facts, bytes), sample});
    } else if (row.soundness != Soundness::kBad) {
      unknown_.push_back({bytes, sample});
    }
  }

  void look_at(std::int64_t sample) {
    try {
      const SampleInput input = reader_.input(sample, {});
      largest_.decode_bytes = std::max(largest_.decode_bytes, decode_bytes(input));
    } catch (const Error& error) {
      if (!is_about_data(error.kind())) throw;
    }
  }

  /// The most that any crops of it may take; if they are always the same, what they take.
  std::uint64_t decode_bytes(SampleInput input) {
    std::uint64_t first = 0;
    for (std::uint64_t position = 0; position < kDraws; ++position) {
      input.draw = {.seed = 0, .epoch = 0, .position = position, .batch = position};
      images_.begin(input);
      if (position == 0) first = images_.memory();
      if (images_.memory() != first) return images_.memory_max();
    }
    return first;
  }

  const Dataset& dataset_;
  const Plan& plan_;
  SampleReader reader_;
  SampleImages images_;
  std::vector<Candidate> known_, unknown_;
  SampleNeeds largest_;
};

}  // namespace

SampleNeeds largest_needs(const Dataset& dataset, const Plan& plan, const DecodeLimits& limits) {
  return Needs(dataset, plan, limits).largest();
}

}  // namespace stoker
