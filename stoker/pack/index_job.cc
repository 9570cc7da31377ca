#include "stoker/pack/index_job.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/pack/file_state.h"
#include "stoker/pack/repeated_keys.h"
#include "stoker/pack/sample_check.h"
#include "stoker/pack/sample_sweep.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class IndexJob {
 public:
  explicit IndexJob(const IndexJobOptions& options) : options_(options) {}

  IndexJobResult run(const std::vector<std::string>& data) {
    Manifests manifests;
    const std::vector<ShardPath> shards = find_shards(data, manifests, options_.stop);
    check_names(shards);
    std::vector<bool> is_done;
    std::vector<std::uint64_t> sizes;
    std::vector<const ManifestShard*> listed;
    std::set<std::string> places;  // a shard that is named twice is indexed once
    for (const ShardPath& shard : shards) {
      stop_if_asked(options_.stop, shard.path);
      const std::uint64_t bytes = sizes.emplace_back(file_bytes(shard.path));
      const bool is_new = places.insert(place_of(shard.path)).second;
      listed.push_back(manifests.find(shard.path).shard);
      const std::string wrong = is_new ? contradiction_of(shard.path, listed.back()) : std::string();
      if (!wrong.empty()) result_.broken.push_back({shard.path, wrong});
      const bool is_current_now = wrong.empty() && (!is_new || is_current(shard.path));
      if (is_current_now) ++result_.current;
      is_done.push_back(!wrong.empty() || is_current_now);
      total_ += bytes;
      if (is_done.back()) done_ += bytes;
    }
    for (const std::string& problem : manifests.take_problems()) log(LogLevel::kWarning, "{}", problem);
    if (options_.progress) options_.progress(done_, total_);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const ShardPath& shard = shards[i];
      if (is_done[i]) continue;
      try {
        add(index(shard.path, listed[i]));
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kClosed) {
          fail(ErrorKind::kClosed, "stopped in '{}'; the same command goes on from there", shard.path);
        }
        if (!is_of_shard(error)) throw;
        result_.broken.push_back({shard.path, error.message()});
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

  static std::uint64_t file_bytes(const std::string& path) {
    struct stat facts;
    if (::stat(path.c_str(), &facts) != 0) fail_system("open", path, errno);
    return static_cast<std::uint64_t>(facts.st_size);
  }

  /// What cannot even be looked at (a name that is too long) is not there; writing it will say why.
  static bool exists(const std::string& path) {
    struct stat facts;
    return ::stat(path.c_str(), &facts) == 0;
  }

  /// Times tell that an index is old, never that it is not. A shard's that lies in the future tells nothing.
  static bool is_older(const std::string& index, const std::string& shard) {
    std::error_code no_index, no_shard;
    const auto index_time = fs::last_write_time(index, no_index), shard_time = fs::last_write_time(shard, no_shard);
    return !no_index && !no_shard && index_time < shard_time && shard_time <= fs::file_time_type::clock::now();
  }

  static void create_folder(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) fail_system("create the folder", path, error.value());
  }

  static void refuse(const std::string& why) {
    if (!why.empty()) fail(ErrorKind::kData, "{}", why);
  }

  /// Why a shard that a manifest lists is not to be indexed: it is another.
  std::string contradiction_of(const std::string& shard, const ManifestShard* listed) const {
    if (!listed) return {};
    FileSource source(shard, FileAccess(inline_));
    return contradiction_of_bytes(*listed, source);
  }

  std::string place_of(const std::string& shard) const {
    return options_.folder.empty() ? index_path_beside(shard) : index_path_in(options_.folder, shard);
  }

  void check_names(const std::vector<ShardPath>& shards) const {
    std::map<std::string, std::string> owners;
    for (const ShardPath& shard : shards) {
      if (!shard.format->is_one_file()) {
        fail(ErrorKind::kUsage, "'{}' is a folder of loose files, which has no index; `stoker pack` makes shards of it",
             shard.path);
      }
      const auto [owner, is_new] = owners.emplace(place_of(shard.path), shard.path);
      std::error_code error;
      if (!is_new && !fs::equivalent(owner->second, shard.path, error)) {
        fail(ErrorKind::kUsage, "'{}' and '{}' would both have the index '{}'; index them into two folders",
             owner->second, shard.path, owner->first);
      }
    }
  }

  /// Whether the place has an index that knows what ours would; or the shard itself, where the place is beside it and
  /// has none: who opens the shard meets the one beside it first.
  bool is_current(const std::string& path) const {
    const auto shard = std::make_shared<FileSource>(path, FileAccess(inline_));
    const std::string place = place_of(path);
    std::string ignored;
    const auto is_enough = [&](const std::optional<IndexPlace>& found) {
      if (!found || !found->trailer.has_checksums || (options_.decode && !found->trailer.was_decoded)) return false;
      ShardIndex(*found, std::make_shared<IndexCache>(0)).check_all();
      return true;
    };
    try {
      if (exists(place)) {
        return !is_older(place, path) &&
               is_enough(index_in_file(*shard, std::make_shared<FileSource>(place, FileAccess(inline_)), ignored));
      }
      return options_.folder.empty() && is_enough(index_in_shard(shard, ignored));
    } catch (const Error& error) {
      if (!is_about_data(error.kind())) throw;
      return false;  // damaged: made anew
    }
  }

  /// Returns what is to be told of this shard.
  IndexJobResult index(const std::string& path, const ManifestShard* listed) {
    stop_if_asked(options_.stop, path);
    const auto shard = std::make_shared<FileSource>(path, FileAccess(inline_));
    const std::string place = place_of(path);
    if (!options_.folder.empty()) create_folder(options_.folder);
    const FileState before(path);
    // Begun before the work: what cannot be written is known at once.
    AtomicFile file(place);
    IndexWriter writer;
    TarStream stream(*shard, options_.stop);
    const SweepOptions sweeping{.threads = options_.threads, .stop = options_.stop, .memory = options_.memory};
    SampleSweep sweep(stream, sweeping, [this] {
      return checking(options_.decode ? CheckDepth::kDecoded : CheckDepth::kHeaders, options_.limits);
    });
    IndexJobResult result;
    while (const SweptSample* sample = sweep.next()) {
      count(path, *sample, result);
      writer.add(sample->row, sample->entry_points);
      const SampleField& last = sample->row.fields.back();
      if (options_.progress) options_.progress(done_ + last.offset + last.length, total_);
    }
    before.require_unchanged();
    if (listed) refuse(contradiction_of_samples(*listed, path, writer.fingerprint(), writer.sample_bytes()));
    if (!options_.folder.empty() && is_of_another(place, *shard)) {
      log(LogLevel::kWarning,
          "the index in '{}' was of another shard than '{}', or of it before it was changed; it is replaced", place,
          path);
    }
    file.write(writer.finish({.data_bytes = shard->size(), .content_tag = content_tag(*shard, shard->size())}));
    file.commit();
    warn_of_repeated_keys(shard, place);
    ++result.shards;
    result.bytes += shard->size();
    done_ += shard->size();
    if (options_.progress) options_.progress(done_, total_);
    return result;
  }

  void warn_of_repeated_keys(const std::shared_ptr<FileSource>& shard, const std::string& index) const {
    std::string ignored;
    std::optional<IndexPlace> place =
        index_in_file(*shard, std::make_shared<FileSource>(index, FileAccess(inline_)), ignored);
    if (!place) return;  // somebody has changed one of the two meanwhile
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
  /// beside a shard is nobody else's.
  bool is_of_another(const std::string& place, Source& shard) const {
    if (!exists(place)) return false;
    try {
      const auto file = std::make_shared<FileSource>(place, FileAccess(inline_));
      std::string ignored;
      if (file->size() < kIndexTrailerBytes || index_in_file(shard, file, ignored)) return false;
      std::array<std::uint8_t, kIndexTrailerBytes> bytes;
      read_fully(*file, file->size() - bytes.size(), bytes);
      IndexPlace found{.source = file, .begin = 0, .trailer = {}};
      if (read_trailer(bytes, found.trailer) != TrailerState::kGood) return false;
      if (found.trailer.index_bytes != file->size()) return false;
      ShardIndex(std::move(found), std::make_shared<IndexCache>(0)).check_all();
      return true;
    } catch (const Error& error) {
      if (!is_about_data(error.kind())) throw;
      return false;  // damaged: no loss
    }
  }

  void add(const IndexJobResult& shard) {
    result_.shards += shard.shards;
    result_.samples += shard.samples;
    result_.concealed += shard.concealed;
    result_.bytes += shard.bytes;
    result_.bad.insert(result_.bad.end(), shard.bad.begin(), shard.bad.end());
  }

  const IndexJobOptions& options_;
  const std::shared_ptr<Executor> inline_ = std::make_shared<InlineExecutor>();
  IndexJobResult result_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

IndexJobResult index_shards(const std::vector<std::string>& data, const IndexJobOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  return IndexJob(options).run(data);
}

}  // namespace stoker
