#include "stoker/pack/pack_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/freed_memory.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"
#include "stoker/pack/job_memory.h"
#include "stoker/pack/sample_check.h"

namespace stoker {
namespace {

/// A pack does not say which field was chosen as the image: its index tells of the image that is found without a
/// choice.
void end_choice(SweptSample& sample) {
  if (sample.row.image_name.empty()) return;
  const Soundness soundness = sample.row.soundness;  // of all images
  sample.row.choose_image({});
  sample.row.soundness = soundness;
  if (!sample.row.facts) sample.entry_points.clear();
}

/// The budget without what a shard takes while it is made; unset for the default. Throws kMemory where nothing is left.
std::optional<std::uint64_t> memory_for_samples(const PackOptions& options) {
  const std::uint64_t held = options.format->held_bytes(options.shard_bytes);
  if (held == 0) return options.memory;
  const int threads = options.threads != 0 ? options.threads : usable_cores();
  const std::uint64_t budget = options.memory.value_or(default_job_memory(threads));
  const std::uint64_t left = budget - std::min(budget, held);
  try {
    divide_job_memory(left, threads);
  } catch (const Error& error) {
    throw error.with_context(
        fmt::format("of a budget of {}, {} are for a shard of {}, which is held in memory (choose "
                    "smaller shards, or more memory)",
                    whole_megabytes(budget), whole_megabytes(held), options.format->name()));
  }
  return left;
}

/// Changes its image as asked; if the sample cannot be what that makes, the reason.
std::string transformed(PackTransform& transform, SweptSample& sample) {
  try {
    transform.apply(sample);
    return {};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kLimit) throw;
    return std::string(error.message());
  }
}

}  // namespace

void note_findings(const SweptSample& sample, std::int64_t number, PackedShard& packed) {
  if (sample.row.soundness == Soundness::kConcealed) ++packed.concealed;
  if (!sample.bad.empty()) packed.bad.push_back({number, sample.row.key, sample.bad});
}

void set_label(SweptSample& sample, std::int64_t label) {
  sample.row.label = label;
  if (label < 0) return;
  const std::string text = std::to_string(label);
  sample.label_text.assign(text.begin(), text.end());
  const SampleField* known = sample.row.field("cls");
  const std::size_t at = known ? static_cast<std::size_t>(known - sample.row.fields.data()) : sample.row.fields.size();
  if (!known) {
    sample.row.fields.push_back({.name = "cls", .part = {}});
    sample.fields.emplace_back();
  }
  sample.row.fields[at].length = text.size();
  sample.fields[at] = sample.label_text;
}

PackWork::PackWork(const PackOptions& options, bool of_images, LabelOf label_of)
    : options_(options), of_images_(of_images), label_of_(std::move(label_of)), memory_(memory_for_samples(options)) {}

SweepOptions PackWork::sweeping() const {
  // Photographs have about one bit per pixel, and pixels 24.
  return {.threads = options_.threads,
          .stop = options_.stop,
          .memory = memory_,
          .growth = options_.transform.raw ? 24u : 1u};
}

SampleSweep::Work PackWork::begin() const {
  const auto checker = std::make_shared<SampleChecker>(CheckDepth::kDecoded, options_.limits, of_images_);
  const auto transform = std::make_shared<PackTransform>(options_.transform, options_.limits);
  return [this, checker, transform](SweptSample& sample) {
    transform->ask_for_memory(sample);
    sample.bad = checker->check(sample.row, sample.fields, sample.entry_points, sample.turn);
    const auto release = [&](auto& worker) {
      if (!sample.turn->is_large()) return;
      worker.drop_scratch();
      release_freed(sample.turn->has());
    };
    release(*checker);  // before the transform takes as much
    if (sample.bad.empty()) sample.bad = transformed(*transform, sample);
    if (!sample.bad.empty() && options_.bad == BadSamplePolicy::kFail) fail(ErrorKind::kBadSample, "{}", sample.bad);
    release(*transform);
    end_choice(sample);
    set_label(sample, label_of_(sample.row.label));
    if (!leaves_out(sample)) options_.format->require_fits(sample.row);
    sample.row.chunk_crcs.clear();
    for (std::size_t i = 0; i < sample.row.fields.size(); ++i) {
      set_checksums(sample.row.fields[i], sample.fields[i], sample.row.chunk_crcs);
    }
  };
}

}  // namespace stoker
