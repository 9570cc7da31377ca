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
#include "stoker/format/class_number.h"
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

/// Among the fields, or after the last where it is none of them.
std::size_t place_of_class(const SampleRow& row) {
  const SampleField* const known = row.field("cls");
  return known ? static_cast<std::size_t>(known - row.fields.data()) : row.fields.size();
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

void heed_class(SampleRow& row, std::string_view cls) {
  if (row.relabelled) return;  // the user has said what takes its place
  const std::optional<std::int64_t> number = parse_whole_number(cls, cls.size());
  row.says_unknown = row.label < 0 && number && *number < 0;
  if (row.label < 0 || number) return;
  fail(ErrorKind::kUsage,
       "its field 'cls' is '{}', and a pack has the class number there, which is {} by another field; rename the "
       "field, or choose it for the label (--label-field cls)",
       cls.substr(0, kClassNumberBytesMax / 2), row.label);
}

void label_row(SampleRow& row, std::int64_t label) {
  row.label = label;
  const std::size_t at = place_of_class(row);
  const bool has_field = at < row.fields.size();
  if (label < 0) {
    if (has_field && row.relabelled) row.fields.erase(row.fields.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  if (!has_field) row.fields.push_back({.name = "cls", .part = {}});
  row.fields[at].length = std::to_string(label).size();
}

void set_label(SweptSample& sample, std::int64_t label) {
  const std::size_t at = place_of_class(sample.row), before = sample.row.fields.size();
  label_row(sample.row, label);
  if (sample.row.fields.size() < before) sample.fields.erase(sample.fields.begin() + static_cast<std::ptrdiff_t>(at));
  if (label < 0) return;
  const std::string text = std::to_string(label);
  sample.label_text.assign(text.begin(), text.end());
  sample.fields.resize(sample.row.fields.size());
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
    const std::size_t cls = place_of_class(sample.row);
    const bool heeds = cls < sample.row.fields.size() && !leaves_out(sample);
    if (heeds) heed_class(sample.row, as_text(sample.fields[cls]));
    set_label(sample, label_of_(sample.row.label));
    if (!leaves_out(sample)) options_.format->require_fits(sample.row);
    sample.row.chunk_crcs.clear();
    for (std::size_t i = 0; i < sample.row.fields.size(); ++i) {
      set_checksums(sample.row.fields[i], sample.fields[i], sample.row.chunk_crcs);
    }
  };
}

}  // namespace stoker
