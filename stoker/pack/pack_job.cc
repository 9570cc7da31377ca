#include "stoker/pack/pack_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/freed_memory.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/base/user_cache.h"
#include "stoker/base/words.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/shard_format.h"
#include "stoker/pack/job_memory.h"
#include "stoker/pack/pack_journal.h"
#include "stoker/pack/pack_selection.h"
#include "stoker/pack/sample_check.h"
#include "stoker/pack/shard_writer.h"
#include "stoker/pack/source_state.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr Word<BadSamplePolicy> kPolicies[] = {
    {BadSamplePolicy::kSkip, "skip"}, {BadSamplePolicy::kKeep, "keep"}, {BadSamplePolicy::kFail, "fail"}};

// Changed whenever the same data and options would be packed into other bytes.
constexpr int kPackVersion = 4;

constexpr std::int64_t kEstimateSamples = 256;

void check(const Location& to, const PackOptions& options) {
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

/// Gives the sample its class number, also as a field that every reader of WebDataset tars knows.
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

/// A pack does not say which field was chosen as the image: its index tells of the image that is found without a
/// choice.
void end_choice(SweptSample& sample) {
  if (sample.row.image_name.empty()) return;
  const Soundness soundness = sample.row.soundness;  // of all images
  sample.row.choose_image({});
  sample.row.soundness = soundness;
  if (!sample.row.facts) sample.entry_points.clear();
}

[[noreturn]] void fail_lost(const Location& pack, const std::string& file, const std::string& wrong) {
  fail(ErrorKind::kData, "the finished pack in '{}' has lost '{}' or part of it ({}); remove the folder to pack again",
       pack, file, wrong);
}

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

/// A packed data set in the making.
class PackJob {
 public:
  /// `cache_folder`: where it is kept what opening the data finds; empty: nowhere.
  PackJob(const std::vector<std::string>& data, const PackOptions& options, const std::string& cache_folder)
      : options_(options),
        stores_(options.stores),
        shards_(open_dataset(data, options.stores, {.cache_folder = cache_folder, .images = options.fields.image},
                             options.stop)),
        dataset_(with_fields(shards_, options.fields, options.stop)),
        of_images_(!options.fields.image.empty() || expects_images(dataset_->field_names())),
        fields_hash_(hash_of_fields(*dataset_, options.stop)),
        selection_(*dataset_, options.classes, options.shuffle, options.stop),
        memory_(memory_for_samples(options)) {
    require_all_fit();
  }

  PackResult run(const Location& to);
  PackEstimate estimate(const Location& to);

 private:
  void require_all_fit();
  Location shard_location(const Location& to, std::size_t number) const;
  std::string job() const;
  std::string journal_job(const SourceState& source) const;
  std::uint64_t shard_bytes_max() const { return std::min(options_.shard_bytes, options_.format->shard_bytes_max()); }
  SweepOptions sweeping() const {
    // Photographs have about one bit per pixel, and pixels 24.
    return {.threads = options_.threads,
            .stop = options_.stop,
            .memory = memory_,
            .growth = options_.transform.raw ? 24u : 1u};
  }
  SampleSweep::Work work() const;
  bool is_left_out(const SweptSample& sample) const {
    return !sample.bad.empty() && options_.bad == BadSamplePolicy::kSkip;
  }
  bool look_at_folder(const Location& to) const;
  std::optional<std::int64_t> pack_rest(const Location& to);
  PackedShard pack_from(const Location& to, PackJournal& journal);
  void finish_shard(ShardWriter& writer, PackJournal& journal, PackedShard& packed, std::int64_t next);
  void put_files(const Location& to, Manifest& made) const;
  Manifest manifest_of(const PackJournal& journal, PackedShard left_over) const;
  std::vector<BadSample> bad_samples(const Location& to, const std::vector<ManifestBad>& bad) const;

  const PackOptions& options_;
  const Stores& stores_;
  const std::shared_ptr<const ShardedDataset> shards_;
  const std::shared_ptr<const Dataset> dataset_;  // the same with the chosen fields
  const bool of_images_;
  const std::uint64_t fields_hash_;
  const PackSelection selection_;
  const std::optional<std::uint64_t> memory_;  // for samples, without a shard in the making; unset for the default
  PackContents contents_;
};

/// As far as rows tell: what shrinking or encoding images makes of them is known later.
void PackJob::require_all_fit() {
  SampleRow row;
  for (std::int64_t sample = 0; sample < dataset_->size(); ++sample) {
    dataset_->read(sample, row);
    stop_if_asked(options_.stop, row.source->name());
    const bool is_bad =
        (of_images_ && !row.image_field()) || (row.label < 0 && row.field("cls"));  // by the rules of SampleChecker
    if (!selection_.takes(row.label) || (is_bad && options_.bad != BadSamplePolicy::kKeep)) continue;
    try {
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

Location PackJob::shard_location(const Location& to, std::size_t number) const {
  return to / fmt::format("shard-{:06}.{}", number, options_.format->ending());
}

// What decides which bytes are packed, and nothing else.
std::string PackJob::job() const {
  const PackTransformOptions& transform = options_.transform;
  const std::string classes = fmt::format("{}", fmt::join(options_.classes, "\n"));
  const std::string format =
      options_.format == writable_formats().front() ? "" : fmt::format(", format {}", options_.format->name());
  return fmt::format(
             "pack {} of {} samples {}, fields {}, shards of {}, short side {}, quality {}, raw {}, classes {}, "
             "shuffle "
             "{}, bad {}",
             kPackVersion, dataset_->size(), to_hex(dataset_->fingerprint()), to_hex(fields_hash_),
             options_.shard_bytes, transform.resize_short, transform.quality.value_or(0), transform.raw,
             options_.classes.empty() ? "all" : to_hex(hash64(classes)),
             options_.shuffle ? fmt::format("{}", *options_.shuffle) : "none", to_string(options_.bad)) +
         format + (options_.fields.image.empty() ? "" : fmt::format(", image {}", options_.fields.image)) +
         (options_.fields.label.empty() ? "" : fmt::format(", label {}", options_.fields.label)) +
         (options_.limits.pixels_max == DecodeLimits().pixels_max
              ? std::string()
              : fmt::format(", pixels {}", options_.limits.pixels_max));
}

// A pack that goes on must find the data as it was: half of one and half of another would be neither.
std::string PackJob::journal_job(const SourceState& source) const { return job() + ", files " + source.digest(); }

SampleSweep::Work PackJob::work() const {
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
    if (sample.bad.empty()) {
      transform->apply(sample);
    } else if (options_.bad == BadSamplePolicy::kFail) {
      fail(ErrorKind::kBadSample, "{}", sample.bad);
    }
    release(*transform);
    end_choice(sample);
    set_label(sample, selection_.label_of(sample.row.label));
    if (!is_left_out(sample)) options_.format->require_fits(sample.row);
    sample.row.chunk_crcs.clear();
    for (std::size_t i = 0; i < sample.row.fields.size(); ++i) {
      set_checksums(sample.row.fields[i], sample.fields[i], sample.row.chunk_crcs);
    }
  };
}

// --- packing

/// Whether there is anything left to do. Throws where nothing can be packed into the folder, which need not be there.
bool PackJob::look_at_folder(const Location& to) const {
  for (const auto& shard : shards_->shards()) {
    const Location source = shard->name();
    if (to.scheme() != source.scheme()) continue;  // and a server is not asked in vain
    const std::optional<ObjectFacts> facts = stores_.find(source);
    if (!facts || !facts->is_folder() || !stores_.of(to).lies_in(to, source)) continue;
    fail(ErrorKind::kUsage, "'{}' is in '{}', the data to pack; choose a folder outside of it", to, source);
  }
  const std::optional<ObjectFacts> facts = stores_.find(to);
  if (facts && !facts->is_folder()) {
    fail(ErrorKind::kUsage, "'{}' exists and is not a folder; choose another name", to);
  }
  if (!facts) return true;
  std::optional<Manifest> finished;
  try {
    finished = Manifest::read(stores_, to);
  } catch (const Error& damaged) {
    fail(ErrorKind::kUsage, "{}; choose another folder, or remove it", damaged.message());
  }
  if (finished && finished->job == job()) {
    for (const ManifestShard& shard : finished->shards) {
      if (const std::string wrong = contradiction_of_file(shard, stores_, to / shard.name); !wrong.empty()) {
        fail_lost(to, shard.name, wrong);
      }
    }
    for (const ManifestFile& file : finished->files) {
      if (const std::string wrong = contradiction_of_file(file, stores_, to); !wrong.empty()) {
        fail_lost(to, file.name, wrong);
      }
    }
    return false;
  }
  if (finished) fail(ErrorKind::kUsage, "'{}' holds another packed data set; choose another folder, or remove it", to);
  if (stores_.find(to / kJournalName)) return true;  // of a pack that was begun
  const std::unique_ptr<Folder> folder = stores_.list(to);
  for (std::size_t i = 0; i < folder->size(); ++i) {
    if ((*folder)[i].name.ends_with(kPartialEnding)) continue;  // of a pack that was killed as it began
    fail(ErrorKind::kUsage, "folder '{}' is not empty; choose another name, or remove its contents", to);
  }
  return true;
}

/// Packs what is not packed yet; returns how many shards there were, or nothing if all was done.
std::optional<std::int64_t> PackJob::pack_rest(const Location& to) {
  if (!look_at_folder(to)) return std::nullopt;
  stores_.create_folder(to);
  const SourceState source(*shards_, stores_, options_.stop);
  PackJournal journal(to, stores_, journal_job(source));
  if (!look_at_folder(to)) return std::nullopt;  // another call of this job has ended since
  const auto resumed = static_cast<std::int64_t>(journal.shards().size());
  PackedShard left_over;
  try {
    left_over = pack_from(to, journal);
    source.require_unchanged(options_.stop);
  } catch (const Error& stopped) {
    if (stopped.kind() != ErrorKind::kClosed) throw;
    fail(ErrorKind::kClosed, "stopped after {}; the same command resumes", counted(journal.shards().size(), "shard"));
  }
  Manifest made = manifest_of(journal, std::move(left_over));
  put_files(to, made);
  put_whole(stores_, to / kManifestName, as_bytes(made.to_json()));
  PackJournal::discard(to, stores_);
  return resumed;
}

PackResult PackJob::run(const Location& to) {
  const std::optional<std::int64_t> resumed = pack_rest(to);
  // Told by what is written, so that the next call is told the same.
  const Manifest manifest = *Manifest::read(stores_, to);
  PackResult result;
  result.shards = static_cast<std::int64_t>(manifest.shards.size());
  result.concealed = manifest.concealed;
  result.bad = bad_samples(to, manifest.bad);
  result.resumed = resumed.value_or(result.shards);
  if (!resumed && stores_.find(to / kJournalName)) PackJournal::discard(to, stores_);
  for (const ManifestShard& shard : manifest.shards) {
    result.samples += shard.samples;
    result.bytes += shard.bytes;
  }
  return result;
}

/// Those that belong to all shards.
void PackJob::put_files(const Location& to, Manifest& made) const {
  std::vector<WrittenShard> shards;
  shards.reserve(made.shards.size());
  for (const ManifestShard& shard : made.shards) {
    shards.push_back({.name = shard.name, .bytes = shard.bytes, .samples = shard.samples});
  }
  for (const WrittenFile& file : options_.format->files_beside(contents_, shards)) {
    put_whole(stores_, to / file.name, as_bytes(file.content));
    made.files.push_back({.name = file.name, .hash = hash64(file.content)});
  }
}

/// `left_over`: what was noted of samples that no shard came of.
Manifest PackJob::manifest_of(const PackJournal& journal, PackedShard left_over) const {
  Manifest manifest;
  manifest.classes = selection_.classes();
  manifest.job = job();
  manifest.bad = std::move(left_over.bad);
  manifest.concealed = left_over.concealed;
  for (const PackedShard& packed : journal.shards()) {
    manifest.shards.push_back(packed.shard);
    add_field_names(packed.fields, manifest.fields);
    manifest.bad.insert(manifest.bad.end(), packed.bad.begin(), packed.bad.end());
    manifest.concealed += packed.concealed;
  }
  std::sort(manifest.bad.begin(), manifest.bad.end(),
            [](const ManifestBad& a, const ManifestBad& b) { return a.sample < b.sample; });
  return manifest;
}

/// Where the bad samples lie is for the data to say, which may have moved.
std::vector<BadSample> PackJob::bad_samples(const Location& to, const std::vector<ManifestBad>& bad) const {
  std::vector<BadSample> samples;
  SampleRow row;
  for (const ManifestBad& entry : bad) {
    if (entry.sample >= dataset_->size()) {
      fail(ErrorKind::kData, "the manifest in '{}' names a bad sample that is not in the data: '{}'", to, entry.key);
    }
    dataset_->read(entry.sample, row);
    const std::uint64_t offset = row.fields.empty() ? 0 : row.fields.front().offset;
    samples.push_back({row.source->name(), entry.key, offset, entry.reason});
  }
  return samples;
}

/// Returns what was noted of samples that no shard came of: all of them were left out.
PackedShard PackJob::pack_from(const Location& to, PackJournal& journal) {
  const std::int64_t total = selection_.size();
  std::int64_t position = journal.shards().empty() ? 0 : journal.shards().back().next_position;
  DatasetStream stream(*dataset_, position, total, [this](std::int64_t at) { return selection_.sample_at(at); });
  SampleSweep sweep(stream, sweeping(), [this] { return work(); });
  std::optional<ShardWriter> writer;
  PackedShard packed;
  std::int64_t ended_early = 0;  // shards
  std::string first_repeated;
  if (options_.progress) options_.progress(position, total);
  while (SweptSample* sample = sweep.next()) {
    const bool left_out = is_left_out(*sample);
    // Neighbours of one key would be taken for one sample by a reader of a tar that ignores its index, and others of
    // one key for one sample whose members lie apart. Where keys are numbers, the shard has none of the sample's.
    const bool repeats = writer && !left_out && writer->may_hold(sample->row.key);
    if (repeats && ended_early++ == 0) first_repeated = describe(sample->row);
    const bool full = repeats || (writer && !left_out && writer->bytes_with(sample->row) > shard_bytes_max());
    if (full) {
      finish_shard(*writer, journal, packed, position);
      writer.reset();
    }
    if (sample->row.soundness == Soundness::kConcealed) ++packed.concealed;
    if (!sample->bad.empty()) packed.bad.push_back({selection_.sample_at(position), sample->row.key, sample->bad});
    if (!left_out) {
      if (!writer) writer.emplace(*options_.format, stores_, shard_location(to, journal.shards().size()), contents_);
      writer->add(*sample);
    }
    ++position;
    if (options_.progress) options_.progress(position, total);
  }
  if (writer) finish_shard(*writer, journal, packed, position);
  if (ended_early > 0) {
    log(LogLevel::kWarning,
        "{} of '{}' ended early, because the key of the next sample already occurred in the shard; the first such "
        "sample is {}",
        counted(ended_early, "shard"), to, first_repeated);
  }
  return packed;
}

void PackJob::finish_shard(ShardWriter& writer, PackJournal& journal, PackedShard& packed, std::int64_t next) {
  packed.shard = writer.finish();
  packed.fields = writer.field_names();
  packed.next_position = next;
  journal.add(std::exchange(packed, PackedShard()));
}

// --- estimating

PackEstimate PackJob::estimate(const Location& to) {
  look_at_folder(to);
  const std::int64_t total = selection_.size();
  PackEstimate estimate{.samples = total, .tried = std::min(total, kEstimateSamples)};
  const std::int64_t began_ns = now_ns();
  const auto spread = [&](std::int64_t at) { return selection_.sample_at(at * total / estimate.tried); };
  DatasetStream stream(*dataset_, 0, estimate.tried, spread);
  SampleSweep sweep(stream, sweeping(), [this] { return work(); });
  std::uint64_t bytes = 0;
  constexpr std::uint64_t kRowBytes = 128;  // in the index: about
  while (const SweptSample* sample = sweep.next()) {
    if (!is_left_out(*sample)) bytes += options_.format->bytes_of(sample->row) + kRowBytes;
  }
  if (estimate.tried > 0) {
    const double scale = static_cast<double>(total) / static_cast<double>(estimate.tried);
    estimate.bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * scale);
    estimate.seconds = static_cast<double>(now_ns() - began_ns) * 1e-9 * scale;
  }
  if (!to.is_local()) return estimate;
  std::error_code error;
  fs::path place = fs::absolute(to.text(), error);
  while (!fs::exists(place, error) && place != place.parent_path()) place = place.parent_path();
  const fs::space_info space = fs::space(place, error);
  if (!error) estimate.disk_free = space.available;
  return estimate;
}

}  // namespace

std::string_view to_string(BadSamplePolicy policy) { return word_of(kPolicies, policy); }

BadSamplePolicy parse_pack_policy(std::string_view name) {
  return value_of(kPolicies, name, "not a policy for bad samples");
}

PackResult pack(const std::vector<std::string>& data, const std::string& to, const PackOptions& options) {
  check(to, options);
  return PackJob(data, options, user_cache_folder()).run(to);
}

PackEstimate estimate_pack(const std::vector<std::string>& data, const std::string& to, const PackOptions& options) {
  check(to, options);
  return PackJob(data, options, "").estimate(to);
}

}  // namespace stoker
