#include "stoker/pack/pack_job.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/base/user_cache.h"
#include "stoker/base/words.h"
#include "stoker/pack/pack_folder.h"
#include "stoker/pack/pack_journal.h"
#include "stoker/pack/pack_source.h"
#include "stoker/pack/pack_trial.h"
#include "stoker/pack/pack_work.h"
#include "stoker/pack/shard_writer.h"
#include "stoker/pack/source_state.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr Word<BadSamplePolicy> kPolicies[] = {
    {BadSamplePolicy::kSkip, "skip"}, {BadSamplePolicy::kKeep, "keep"}, {BadSamplePolicy::kFail, "fail"}};

constexpr std::int64_t kEstimateSamples = 256;

/// A packed data set in the making.
class PackJob {
 public:
  /// `cache_folder`: where it is kept what opening the data finds; empty: nowhere.
  PackJob(const std::vector<std::string>& data, const std::string& to, const PackOptions& options,
          const std::string& cache_folder)
      : options_(options),
        source_(data, options, cache_folder),
        folder_(options.stores, to, source_.job()),
        work_(options, source_.of_images(),
              [this](std::int64_t label) { return source_.selection().label_of(label); }) {
    folder_.require_outside(places_of(source_.shards()));
  }

  PackResult run();
  PackEstimate estimate();

 private:
  Manifest pack_rest(std::int64_t& resumed);
  PackedShard pack_from(PackJournal& journal);
  void finish_shard(ShardWriter& writer, PackJournal& journal, PackedShard& packed, std::int64_t next) const;

  const PackOptions& options_;
  const PackSource source_;
  const PackFolder folder_;
  const PackWork work_;
};

/// Packs what is not packed yet, if there is anything. Returns what the pack is then, and counts the shards that there
/// were.
Manifest PackJob::pack_rest(std::int64_t& resumed) {
  const Location& to = folder_.location();
  const auto all_was_done = [&] {
    Manifest finished = *Manifest::read(options_.stores, to);
    resumed = static_cast<std::int64_t>(finished.shards.size());
    if (options_.stores.find(to / kJournalName)) PackJournal::discard(to, options_.stores);
    return finished;
  };
  if (!folder_.has_work_left()) return all_was_done();
  options_.stores.create_folder(to);
  const SourceState state(source_.shards(), options_.stores, options_.stop);
  // A pack that goes on must find the data as it was: half of one and half of another would be neither.
  PackJournal journal(to, options_.stores, source_.job() + ", files " + state.digest());
  if (!folder_.has_work_left()) return all_was_done();  // by another call, which has ended since
  resumed = static_cast<std::int64_t>(journal.shards().size());
  PackedShard left_over;
  try {
    left_over = pack_from(journal);
    state.require_unchanged(options_.stop);
  } catch (const Error& stopped) {
    if (stopped.kind() != ErrorKind::kClosed) throw;
    fail(ErrorKind::kClosed, "stopped after {}; the same command resumes", counted(journal.shards().size(), "shard"));
  }
  Manifest made = manifest_of(journal.shards(), std::move(left_over), source_.job(), source_.selection().classes());
  if (!made.shards.empty()) {
    folder_.finish(std::move(made), *options_.format, source_.contents());
    made = *Manifest::read(options_.stores, to);  // told by what is written, so that the next call is told the same
  }
  PackJournal::discard(to, options_.stores);
  return made;
}

PackResult PackJob::run() {
  std::int64_t resumed = 0;
  const Manifest manifest = pack_rest(resumed);
  PackResult result = told_of(manifest);
  result.bad = bad_samples_of(manifest, source_.samples(), folder_.location());
  result.resumed = resumed;
  return result;
}

/// Returns what was noted of samples that no shard came of: all of them were left out.
PackedShard PackJob::pack_from(PackJournal& journal) {
  const PackSelection& selection = source_.selection();
  const std::int64_t total = selection.size();
  std::int64_t position = journal.shards().empty() ? 0 : journal.shards().back().next_position;
  DatasetStream stream(source_.samples(), position, total, [&](std::int64_t at) { return selection.sample_at(at); });
  SampleSweep sweep(stream, work_.sweeping(), [this] { return work_.begin(); });
  std::optional<ShardWriter> writer;
  PackedShard packed;
  std::int64_t ended_early = 0;  // shards
  std::string first_repeated;
  if (options_.progress) options_.progress(position, total);
  while (SweptSample* sample = sweep.next()) {
    const bool left_out = work_.leaves_out(*sample);
    // Neighbours of one key would be taken for one sample by a reader of a tar that ignores its index, and others of
    // one key for one sample whose members lie apart. Where keys are numbers, the shard has none of the sample's.
    const bool repeats = writer && !left_out && writer->may_hold(sample->row.key);
    if (repeats && ended_early++ == 0) first_repeated = describe(sample->row);
    const bool full = repeats || (writer && !left_out && writer->bytes_with(sample->row) > shard_bytes_max(options_));
    if (full) {
      finish_shard(*writer, journal, packed, position);
      writer.reset();
    }
    note_findings(*sample, selection.sample_at(position), packed);
    if (!left_out) {
      if (!writer) {
        writer.emplace(*options_.format, options_.stores, folder_.shard(*options_.format, journal.shards().size()),
                       source_.contents());
      }
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
        counted(ended_early, "shard"), folder_.location(), first_repeated);
  }
  return packed;
}

void PackJob::finish_shard(ShardWriter& writer, PackJournal& journal, PackedShard& packed, std::int64_t next) const {
  packed.shard = writer.finish();
  packed.fields = writer.field_names();
  packed.next_position = next;
  journal.add(std::exchange(packed, PackedShard()));
}

// --- estimating

PackEstimate PackJob::estimate() {
  folder_.has_work_left();
  const std::int64_t total = source_.selection().size();
  PackEstimate estimate{.samples = total, .tried = std::min(total, kEstimateSamples)};
  const std::int64_t began_ns = now_ns();
  constexpr std::uint64_t kRowBytes = 128;  // in the index: about
  const PackTrial trial = try_packing(source_, work_, options_, estimate.tried);
  if (estimate.tried > 0) {
    const double scale = static_cast<double>(total) / static_cast<double>(estimate.tried);
    const auto bytes = static_cast<double>(trial.bytes + kRowBytes * static_cast<std::uint64_t>(trial.kept));
    estimate.bytes = static_cast<std::uint64_t>(bytes * scale);
    estimate.seconds = static_cast<double>(now_ns() - began_ns) * 1e-9 * scale;
  }
  const Location& to = folder_.location();
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
  require_sensible(options, to);
  return PackJob(data, to, options, user_cache_folder()).run();
}

PackEstimate estimate_pack(const std::vector<std::string>& data, const std::string& to, const PackOptions& options) {
  require_sensible(options, to);
  return PackJob(data, to, options, "").estimate();
}

}  // namespace stoker
