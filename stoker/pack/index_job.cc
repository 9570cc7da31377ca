#include "stoker/pack/index_job.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/pack/job_memory.h"
#include "stoker/pack/repeated_keys.h"
#include "stoker/pack/sample_check.h"
#include "stoker/pack/sample_sweep.h"
#include "stoker/pack/source_state.h"
#include "stoker/storage/recent_source.h"

namespace stoker {
namespace {

bool is_before(const timespec& a, const timespec& b) {
  return std::tie(a.tv_sec, a.tv_nsec) < std::tie(b.tv_sec, b.tv_nsec);
}

class IndexJob {
 public:
  explicit IndexJob(const IndexJobOptions& options) : options_(options) {}

  IndexJobResult run(const std::vector<std::string>& data) {
    Manifests manifests(stores_);
    std::vector<FoundShard> shards = find_shards(data, stores_, manifests, options_.stop);
    check_names(shards);
    shards = chosen_shards(std::move(shards), options_.only);
    std::vector<bool> is_done;
    std::vector<std::uint64_t> sizes;
    std::vector<const ManifestShard*> listed;
    std::set<Location> places;  // a shard that is named twice is indexed once
    for (const FoundShard& shard : shards) {
      const std::string& name = shard.location.shown();
      stop_if_asked(options_.stop, name);
      const std::uint64_t bytes = sizes.emplace_back(stores_.stat(shard.location, "open").size);
      const bool is_new = places.insert(place_of(shard.location)).second;
      listed.push_back(manifests.find(shard.location).shard);
      std::string wrong;  // with a shard that a manifest lists: it is another
      if (is_new && listed.back()) wrong = contradiction_of_bytes(*listed.back(), stores_.open(shard.location));
      if (!wrong.empty()) result_.broken.push_back({name, wrong});
      const bool is_current_now = wrong.empty() && (!is_new || is_current(shard.location));
      if (is_current_now) ++result_.current;
      is_done.push_back(!wrong.empty() || is_current_now);
      total_ += bytes;
      if (is_done.back()) done_ += bytes;
    }
    for (const std::string& problem : manifests.take_problems()) log(LogLevel::kWarning, "{}", problem);
    if (options_.progress) options_.progress(done_, total_);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const FoundShard& shard = shards[i];
      if (is_done[i]) continue;
      try {
        add(index(shard, listed[i]));
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kClosed) {
          fail(ErrorKind::kClosed, "stopped in '{}'; the same command resumes", shard.location);
        }
        if (!is_of_shard(error)) throw;
        result_.broken.push_back({shard.location.shown(), error.message()});
        done_ += sizes[i];
        if (options_.progress) options_.progress(done_, total_);
      }
    }
    return std::move(result_);
  }

 private:
  /// Other shards may be sound, and be written. A sample that is too large leaves no other way than damage does.
  static bool is_of_shard(const Error& error) {
    return error.kind() == ErrorKind::kData || error.kind() == ErrorKind::kLimit;
  }

  /// Times tell that an index is old, never that it is not. A shard's that lies in the future tells nothing.
  bool is_older(const ObjectFacts& index, const Location& shard) const {
    const std::optional<ObjectFacts> of_shard = stores_.find(shard);
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    return of_shard && is_before(index.modified, of_shard->modified) && !is_before(now, of_shard->modified);
  }

  Location place_of(const Location& shard) const {
    return options_.folder.empty() ? index_beside(shard) : index_in_folder(options_.folder, shard);
  }

  void check_names(const std::vector<FoundShard>& shards) const {
    std::map<Location, Location> owners;
    for (const FoundShard& shard : shards) {
      if (!shard.format->is_one_file()) {
        fail(ErrorKind::kUsage,
             "'{}' stands for loose files, which cannot have an index; `stoker pack` turns it into shards",
             shard.location);
      }
      const auto [owner, is_new] = owners.emplace(place_of(shard.location), shard.location);
      if (!is_new && !are_one(owner->second, shard.location)) {
        fail(ErrorKind::kUsage, "'{}' and '{}' would both have the index '{}'; index them into separate folders",
             owner->second, shard.location, owner->first);
      }
    }
  }

  bool are_one(const Location& a, const Location& b) const {
    const std::optional<ObjectFacts> of_a = stores_.find(a), of_b = stores_.find(b);
    return a == b || (of_a && of_b && of_a->identity == of_b->identity);
  }

  /// Whether the place has an index that knows what ours would; or the shard itself, where the place is beside it and
  /// has none: opening the shard finds the one beside it first.
  bool is_current(const Location& location) const {
    const std::shared_ptr<Source> shard = stores_.open(location);
    const Location place = place_of(location);
    std::string ignored;
    const auto is_enough = [&](const std::optional<IndexPlace>& found) {
      if (!found || !found->trailer.has_checksums || (options_.decode && !found->trailer.was_decoded)) return false;
      ShardIndex(*found, std::make_shared<IndexCache>(0)).check_all();
      return true;
    };
    bool current = false;
    fault_of_data([&] {
      const std::optional<ObjectFacts> facts = stores_.find(place);
      current = facts ? !is_older(*facts, location) && is_enough(index_in_file(*shard, stores_.open(place), ignored))
                      : options_.folder.empty() && is_enough(index_in_shard(shard, ignored));
    });
    return current;  // false for one that is damaged: it is made anew
  }

  /// The shard, or for one that is far away a source that asks it for each byte once: some scans look at every byte,
  /// and samples are read right after they were scanned.
  std::shared_ptr<Source> source_of(const Location& location) const {
    std::shared_ptr<Source> shard = stores_.open(location);
    if (!shard->is_remote()) return shard;
    // As much as threads are behind the scan, and what that read ahead.
    constexpr std::uint64_t kBytesPerThread = std::uint64_t{4} << 20;
    const int threads = options_.threads ? options_.threads : usable_cores();
    const std::uint64_t budget = options_.memory.value_or(default_job_memory(threads));
    const std::uint64_t kept = std::min(budget / 8, kBytesPerThread * static_cast<std::uint64_t>(threads + 1));
    return std::make_shared<RecentSource>(std::move(shard), kept);
  }

  /// Returns what is to be told of this shard.
  IndexJobResult index(const FoundShard& found, const ManifestShard* listed) {
    const std::string& path = found.location.shown();
    stop_if_asked(options_.stop, path);
    const std::shared_ptr<Source> shard = source_of(found.location);
    const Location place = place_of(found.location);
    if (!options_.folder.empty()) stores_.create_folder(options_.folder);
    const FileState before(stores_, found.location);
    // Begun before the work: what cannot be written is known at once.
    const std::unique_ptr<ObjectWriter> file = stores_.put(place);
    IndexWriter writer;
    const std::unique_ptr<ShardScan> stream = found.format->scan_at(stores_, found.location, *shard, options_.stop);
    const SweepOptions sweeping{.threads = options_.threads, .stop = options_.stop, .memory = options_.memory};
    const bool of_images = expects_images(*found.format->scan_at(stores_, found.location, *shard, options_.stop));
    SampleSweep sweep(*stream, sweeping, [&] {
      return checking(options_.decode ? CheckDepth::kDecoded : CheckDepth::kHeaders, options_.limits, of_images);
    });
    IndexJobResult result;
    while (const SweptSample* sample = sweep.next()) {
      count(path, *sample, result);
      writer.add(sample->row, options_.entry_points ? Bytes(sample->entry_points) : Bytes());
      const SampleField& last = sample->row.fields.back();
      if (options_.progress) options_.progress(done_ + std::min(last.offset + last.length, shard->size()), total_);
    }
    before.require_unchanged();
    if (listed) {
      const auto wrong = contradiction_of_samples(*listed, path, writer.fingerprint(), writer.sample_bytes());
      if (!wrong.empty()) fail(ErrorKind::kData, "{}", wrong);
    }
    if (!options_.folder.empty() && is_of_another(place, *shard)) {
      log(LogLevel::kWarning,
          "the index in '{}' described another shard than '{}', or an earlier version of it; it is replaced", place,
          path);
    }
    const ShardNotes notes = stream->take_notes();
    for (const std::string& problem : notes.problems) log(LogLevel::kWarning, "{}", problem);
    file->write(writer.finish({.data_bytes = shard->size(),
                               .content_tag = content_tag(*shard, shard->size()),
                               .blocks = notes.blocks.get(),
                               .classes = notes.classes}));
    file->commit();
    warn_of_repeated_keys(shard, place);
    ++result.shards;
    result.bytes += shard->size();
    done_ += shard->size();
    if (options_.progress) options_.progress(done_, total_);
    return result;
  }

  void warn_of_repeated_keys(const std::shared_ptr<Source>& shard, const Location& index) const {
    std::string ignored;
    std::optional<IndexPlace> place = index_in_file(*shard, stores_.open(index), ignored);
    if (!place) return;  // one of the two was changed meanwhile
    const ShardIndex rows(std::move(*place), std::make_shared<IndexCache>(std::size_t{1} << 20));
    const RepeatedKeys found = find_repeated_keys(rows, shard->name(), options_.stop);
    if (found.count > 0) log(LogLevel::kWarning, "{}", found.sentence(shard->name(), rows));
  }

  static void count(const std::string& path, const SweptSample& sample, IndexJobResult& result) {
    ++result.samples;
    if (sample.row.soundness == Soundness::kConcealed) ++result.concealed;
    if (!sample.bad.empty()) {
      result.bad.push_back({path, sample.row.key, sample.row.fields.front().offset, sample.bad});
    }
  }

  /// Whether the place has an index that is sound, but not this shard's: it may be needed by another of this name. One
  /// beside a shard belongs to no other program.
  bool is_of_another(const Location& place, Source& shard) const {
    if (!stores_.find(place)) return false;
    bool sound = false;
    fault_of_data([&] {
      const std::shared_ptr<Source> file = stores_.open(place);
      std::string ignored;
      if (file->size() < kIndexTrailerBytes || index_in_file(shard, file, ignored)) return;
      std::array<std::uint8_t, kIndexTrailerBytes> bytes;
      read_fully(*file, file->size() - bytes.size(), bytes);
      IndexPlace found{.source = file, .begin = 0, .trailer = {}};
      if (read_trailer(bytes, found.trailer) != TrailerState::kGood) return;
      if (found.trailer.index_bytes != file->size()) return;
      ShardIndex(std::move(found), std::make_shared<IndexCache>(0)).check_all();
      sound = true;
    });
    return sound;  // one that is damaged is not a loss
  }

  void add(const IndexJobResult& shard) {
    result_.shards += shard.shards;
    result_.samples += shard.samples;
    result_.concealed += shard.concealed;
    result_.bytes += shard.bytes;
    result_.bad.insert(result_.bad.end(), shard.bad.begin(), shard.bad.end());
  }

  const IndexJobOptions& options_;
  const Stores& stores_ = options_.stores;
  IndexJobResult result_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

IndexJobResult index_shards(const std::vector<std::string>& data, const IndexJobOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  return IndexJob(options).run(data);
}

}  // namespace stoker
