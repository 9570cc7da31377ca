#include "stoker/pack/index_job.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
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

/// A shard of the data, and what is known of it before the work.
struct ShardToIndex {
  explicit ShardToIndex(FoundShard shard) : found(std::move(shard)) {}

  FoundShard found;
  std::uint64_t bytes = 0;
  const ManifestShard* listed = nullptr;
  bool is_done = false;  // there is nothing to do, or nothing that can be done
};

struct MadeIndex {
  std::shared_ptr<Source> shard;
  std::vector<std::uint8_t> index;
  IndexJobResult told;  // of this shard
};

class IndexJob {
 public:
  explicit IndexJob(const IndexJobOptions& options) : options_(options) {}

  IndexJobResult run(const std::vector<std::string>& data) {
    Manifests manifests(stores_);
    std::vector<FoundShard> found = find_shards(data, stores_, manifests, options_.stop);
    check_names(found);
    found = chosen_shards(std::move(found), options_.only);
    std::vector<ShardToIndex> shards(found.begin(), found.end());
    for (ShardToIndex& shard : shards) resumably(shard, [&] { look_at(shard, manifests); });
    for (const std::string& problem : manifests.take_problems()) log(LogLevel::kWarning, "{}", problem);
    tell_progress(done_);
    for (const ShardToIndex& shard : shards) {
      if (!shard.is_done) resumably(shard, [&] { index(shard); });
    }
    return std::move(result_);
  }

 private:
  template <typename Work>
  static void resumably(const ShardToIndex& shard, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kClosed) throw;
      fail(ErrorKind::kClosed, "stopped in '{}'; the same command resumes", shard.found.location);
    }
  }

  /// Whether `read`, which reads a shard and writes nothing, succeeds. If it does not, the shard is broken, but others
  /// may be sound. A sample that is too large leaves no other way than damage does.
  template <typename Read>
  bool is_read(const ShardToIndex& shard, const Read& read) {
    const Location& location = shard.found.location;
    try {
      read();
      return true;
    } catch (const Error& error) {
      if (!is_about_data(error.kind(), !location.is_local()) || error.kind() == ErrorKind::kUsage) throw;
      result_.broken.push_back({location.shown(), error.message()});
      return false;
    }
  }

  void tell_progress(std::uint64_t done) const {
    if (options_.progress) options_.progress(done, total_);
  }

  /// Finds out what there is to do.
  void look_at(ShardToIndex& shard, Manifests& manifests) {
    const Location& location = shard.found.location;
    stop_if_asked(options_.stop, location.shown());
    const bool is_new = places_.insert(place_of(location)).second;
    bool is_current_now = !is_new;
    const bool is_sound = is_read(shard, [&] {
      shard.bytes = stores_.stat(location, "open").size;
      shard.listed = manifests.find(location).shard;
      if (!is_new) return;
      if (shard.listed) require_listed(contradiction_of_bytes(*shard.listed, stores_.open(location)));
      is_current_now = is_current(location);
    });
    shard.is_done = !is_sound || is_current_now;
    if (is_sound && is_current_now) ++result_.current;
    total_ += shard.bytes;
    if (shard.is_done) done_ += shard.bytes;
  }

  /// Throws what contradicts the manifest that lists the shard, if anything does: it is another.
  static void require_listed(const std::string& contradiction) {
    if (!contradiction.empty()) fail(ErrorKind::kData, "{}", contradiction);
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
      if (!shard.format->is_one_file()) fail_no_shard(shard.location);
      const auto [owner, is_new] = owners.emplace(place_of(shard.location), shard.location);
      if (!is_new && !are_one(owner->second, shard.location)) {
        fail(ErrorKind::kUsage, "'{}' and '{}' would both have the index '{}'; index them into separate folders",
             owner->second, shard.location, owner->first);
      }
    }
  }

  [[noreturn]] void fail_no_shard(const Location& at) const {
    const std::optional<ObjectFacts> facts = stores_.find(at);
    const bool is_listed = facts && facts->is_folder() && stores_.of(at).can_list();
    if (is_listed && stores_.list(at)->size() == 0) {
      fail(ErrorKind::kUsage, "the folder '{}' is empty: there are no shards to index", at);
    }
    fail(ErrorKind::kUsage,
         "'{}' stands for loose files, which cannot have an index; `stoker pack` turns it into shards", at);
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

  /// What cannot be written ends the job: the other indexes could not be written either.
  void index(const ShardToIndex& shard) {
    const Location& location = shard.found.location;
    const Location place = place_of(location);
    MadeIndex made;
    std::optional<FileState> before;
    const auto open = [&] {
      made.shard = source_of(location);
      before.emplace(stores_, location);
    };
    if (is_read(shard, open)) make(shard, place, *before, made);
    done_ += shard.bytes;
    tell_progress(done_);
  }

  void make(const ShardToIndex& shard, const Location& place, const FileState& before, MadeIndex& made) {
    if (!options_.folder.empty()) stores_.create_folder(options_.folder);
    // Begun before the work: what cannot be written is known at once.
    const std::unique_ptr<ObjectWriter> file = stores_.put(place);
    const auto read = [&] {
      index_into(made, shard, place);
      before.require_unchanged();
    };
    if (is_read(shard, read)) {
      file->write(made.index);
      file->commit();
      warn_of_repeated_keys(made.shard, place);
      add(made.told);
    }
  }

  void index_into(MadeIndex& made, const ShardToIndex& it, const Location& place) const {
    const auto& [location, format] = it.found;
    const std::string& path = location.shown();
    stop_if_asked(options_.stop, path);
    Source& shard = *made.shard;
    IndexWriter writer;
    const std::unique_ptr<ShardScan> stream = format->scan_at(stores_, location, shard, options_.stop);
    const SweepOptions sweeping{.threads = options_.threads, .stop = options_.stop, .memory = options_.memory};
    const bool of_images = expects_images(*format->scan_at(stores_, location, shard, options_.stop));
    SampleSweep sweep(*stream, sweeping, [&] {
      return checking(options_.decode ? CheckDepth::kDecoded : CheckDepth::kHeaders, options_.limits, of_images);
    });
    while (const SweptSample* sample = sweep.next()) {
      count(path, *sample, made.told);
      writer.add(sample->row, options_.entry_points ? Bytes(sample->entry_points) : Bytes());
      if (sample->row.fields.empty()) continue;
      const SampleField& last = sample->row.fields.back();
      tell_progress(done_ + std::min(last.offset + last.length, it.bytes));
    }
    if (it.listed) {
      require_listed(contradiction_of_samples(*it.listed, path, writer.fingerprint(), writer.sample_bytes()));
    }
    if (!options_.folder.empty() && is_of_another(place, shard)) {
      log(LogLevel::kWarning,
          "the index in '{}' described another shard than '{}', or an earlier version of it; it is replaced", place,
          path);
    }
    const ShardNotes notes = stream->take_notes();
    for (const std::string& problem : notes.problems) log(LogLevel::kWarning, "{}", problem);
    made.index = writer.finish({.data_bytes = shard.size(),
                                .content_tag = content_tag(shard, shard.size()),
                                .blocks = notes.blocks.get(),
                                .classes = notes.classes});
    made.told.shards = 1;
    made.told.bytes = shard.size();
  }

  /// What cannot be read for that, although the index is made, is a warning, too.
  void warn_of_repeated_keys(const std::shared_ptr<Source>& shard, const Location& index) const {
    const auto look = [&] {
      std::string ignored;
      std::optional<IndexPlace> place = index_in_file(*shard, stores_.open(index), ignored);
      if (!place) return;  // one of the two was changed meanwhile
      const ShardIndex rows(std::move(*place), std::make_shared<IndexCache>(std::size_t{1} << 20));
      const RepeatedKeys found = find_repeated_keys(rows, shard->name(), options_.stop);
      if (found.count > 0) log(LogLevel::kWarning, "{}", found.sentence(shard->name(), rows));
    };
    if (const auto fault = fault_of_data(look, shard->is_remote())) log(LogLevel::kWarning, "{}", *fault);
  }

  static void count(const std::string& path, const SweptSample& sample, IndexJobResult& result) {
    ++result.samples;
    if (sample.row.soundness == Soundness::kConcealed) ++result.concealed;
    if (!sample.bad.empty()) {
      const std::vector<SampleField>& fields = sample.row.fields;
      result.bad.push_back({path, sample.row.key, fields.empty() ? 0 : fields.front().offset, sample.bad});
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
  std::set<Location> places_;  // a shard that is named twice is indexed once
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

IndexJobResult index_shards(const std::vector<std::string>& data, const IndexJobOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  return IndexJob(options).run(data);
}

}  // namespace stoker
