#include "stoker/pack/pack_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/threads.h"
#include "stoker/format/class_number.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/labels.h"
#include "stoker/format/shard_format.h"
#include "stoker/pack/pack_work.h"
#include "stoker/pack/sample_check.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

// Changed whenever the same data and options would be packed into other bytes.
constexpr int kPackVersion = 5;

/// Of what the fingerprint does not know: the names and sizes of all fields but the class, which packing may add.
std::uint64_t hash_of_fields(const Dataset& dataset, const std::stop_token& stop) {
  Hasher64 hasher;
  SampleRow row;
  for (std::int64_t sample = 0; sample < dataset.size(); ++sample) {
    dataset.read(sample, row);
    stop_if_asked(stop, row.source->name());
    for (const SampleField& field : row.fields) {
      if (field.name != "cls") hasher.update(as_bytes(fmt::format("{} {}\n", field.name, field.length)));
    }
    hasher.update(as_bytes("\n"));
  }
  return hasher.digest();
}

/// Reads the field "cls", which it has, and notes what it says. One that cannot be read is told of by the pack.
void heed_class_field(SampleRow& row) {
  const SampleField& field = *row.field("cls");
  // Of one that is longer than any number, the beginning is not one either.
  std::vector<std::uint8_t> text(
      static_cast<std::size_t>(std::min<std::uint64_t>(field.length, kClassNumberBytesMax + 1)));
  const auto read = [&] { read_fully(*row.source, field.offset, text, field.part); };
  if (!fault_of_data(read, row.source->is_remote())) heed_class(row, as_text(text));
}

}  // namespace

PackSource::PackSource(const std::vector<std::string>& data, const PackOptions& options,
                       const std::string& cache_folder)
    : options_(options),
      shards_(open_dataset(data, options.stores, {.cache_folder = cache_folder, .images = options.fields.image},
                           options.stop)),
      chosen_(chosen_of(with_fields(shards_, options.fields, options.stop), options)),
      of_images_(!options.fields.image.empty() || expects_images(samples().field_names())),
      fields_hash_(hash_of_fields(samples(), options.stop)),
      selection_(samples(), options.classes, options.shuffle, options.stop),
      doubts_(samples(), of_images_, options.stop) {
  require_all_fit();
}

PackSource::Chosen PackSource::chosen_of(std::shared_ptr<const Dataset> all, const PackOptions& options) {
  Chosen chosen{.samples = std::move(all), .numbers = {}};
  if (!options.subset.empty()) {
    chosen.numbers = samples_listed(*chosen.samples, options.subset, options.stores, options.stop);
    chosen.samples = subset(chosen.samples, chosen.numbers, options.stop);
  }
  if (!options.labels.empty()) {
    Labels labels = labels_given(*chosen.samples, options.labels, {}, options.stop, options.stores);
    chosen.samples = with_labels(chosen.samples, std::move(labels.numbers), std::move(labels.classes), options.stop);
  }
  return chosen;
}

bool PackSource::takes(std::int64_t sample, SampleRow& row) const {
  const SampleDoubt* const doubt = doubts_.find(sample);
  row.says_unknown = doubt && doubt->says_unknown;
  const bool is_bad = doubt && (doubt->lacks_class || doubt->lacks_array);
  return selection_.takes(row.label) && (!is_bad || options_.bad == BadSamplePolicy::kKeep);
}

void PackSource::require_all_fit() {
  SampleRow row;
  bool saw_class = false;
  for (std::int64_t sample = 0; sample < samples().size(); ++sample) {
    samples().read(sample, row);
    stop_if_asked(options_.stop, row.source->name());
    if (!takes(sample, row)) continue;
    try {
      // Of the samples with a label the first is read: in most data their fields "cls" hold the same kind of thing.
      if (row.label >= 0 && row.field("cls") && !std::exchange(saw_class, true)) heed_class_field(row);
      label_row(row, selection_.label_of(row.label));
      options_.format->require_fits(row);
    } catch (const Error& error) {
      throw error.with_context(describe(row));
    }
    contents_.add(row);
  }
  contents_.classes = selection_.classes();
  if (options_.transform.raw) contents_.rename_images("npy");
  if (options_.transform.quality) contents_.rename_images("jpg");
  options_.format->require_all_fit(contents_);
}

std::string PackSource::job() const {
  const PackTransformOptions& transform = options_.transform;
  const std::string classes = fmt::format("{}", fmt::join(options_.classes, "\n"));
  // Others are implied by the samples.
  const bool are_named = !options_.labels.empty() || !options_.fields.label.empty();
  const std::string names = fmt::format("{}", fmt::join(selection_.classes(), "\n"));
  const std::string format =
      options_.format == writable_formats().front() ? "" : fmt::format(", format {}", options_.format->name());
  return fmt::format(
             "pack {} of {} samples {}, fields {}, shards of {}, short side {}, quality {}, raw {}, classes {}, "
             "shuffle "
             "{}, bad {}",
             kPackVersion, samples().size(), to_hex(samples().fingerprint()), to_hex(fields_hash_),
             options_.shard_bytes, transform.resize_short, transform.quality.value_or(0), transform.raw,
             options_.classes.empty() ? "all" : to_hex(hash64(classes)),
             options_.shuffle ? fmt::format("{}", *options_.shuffle) : "none", to_string(options_.bad)) +
         format + (options_.fields.image.empty() ? "" : fmt::format(", image {}", options_.fields.image)) +
         (options_.fields.label.empty() ? "" : fmt::format(", label {}", options_.fields.label)) +
         (are_named && !names.empty() ? fmt::format(", named {}", to_hex(hash64(names))) : std::string()) +
         (options_.limits.pixels_max == DecodeLimits().pixels_max
              ? std::string()
              : fmt::format(", pixels {}", options_.limits.pixels_max));
}

std::vector<Location> places_of(const ShardedDataset& data) {
  std::vector<Location> places;
  for (const auto& shard : data.shards()) places.emplace_back(shard->name());
  return places;
}

std::uint64_t shard_bytes_max(const PackOptions& options) {
  return std::min(options.shard_bytes, options.format->shard_bytes_max());
}

void require_sensible(const PackOptions& options, const Location& to) {
  if (to.empty()) fail(ErrorKind::kUsage, "the folder to pack into has an empty name");
  options.stores.of(to);
  if (options.shard_bytes == 0) fail(ErrorKind::kUsage, "shards must have a size above 0");
  if (options.threads != 0) check_threads(options.threads);
  const PackTransformOptions& transform = options.transform;
  if (transform.resize_short < 0) fail(ErrorKind::kUsage, "images cannot be resized to {}", transform.resize_short);
  if (transform.quality && (*transform.quality < 1 || *transform.quality > 100)) {
    fail(ErrorKind::kUsage, "a JPEG's quality is from 1 to 100, not {}", *transform.quality);
  }
  if (transform.raw && transform.quality) {
    fail(ErrorKind::kUsage, "raw pixels are not encoded and have no quality; give either raw or quality");
  }
}

}  // namespace stoker
