#include "stoker/pack/pack_journal.h"

#include <fcntl.h>

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/user_cache.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/pack/checked_line.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/stores.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

/// Where the journal of the pack in a folder is kept.
std::string path_of(const Location& folder) {
  if (folder.is_local()) return (folder / kJournalName).text();
  const std::string cache = user_cache_folder();
  if (cache.empty()) {
    fail(ErrorKind::kUsage, "a pack into '{}' keeps its progress in the cache folder: set STOKER_CACHE_DIR", folder);
  }
  return fmt::format("{}/packs/{}", cache, to_hex(hash64(folder.text())));
}

[[noreturn]] void fail_other_job(const Location& folder) {
  fail(ErrorKind::kUsage,
       "'{}' contains a pack that was begun with other options, or from data that have changed since; remove the "
       "folder, or choose another",
       folder);
}

}  // namespace

PackJournal::PackJournal(Location folder, const Stores& stores, const std::string& job)
    : folder_(std::move(folder)), path_(path_of(folder_)) {
  const Location journal = path_;
  if (!folder_.is_local()) Stores().create_folder(journal.parent());
  fd_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd_) fail_system("create", path_, errno);
  if (!lock_exclusively(fd_)) {
    fail(ErrorKind::kIo, "another process is packing into '{}'; wait until it ends", folder_);
  }
  read(stores, job);
}

void PackJournal::read(const Stores& stores, const std::string& job) {
  std::ifstream file(path_, std::ios::binary);
  std::string line;
  std::size_t whole = 0;  // bytes of whole lines
  const std::string head = checked_line(Json{{"job", to_json_text(job)}});
  const bool is_begun = folder_.is_local() || stores.find(folder_ / kJournalName);
  // A line that lacks its end is torn, too: what is appended would stand on it.
  const auto next_line = [&] { return std::getline(file, line) && !file.eof(); };
  const auto next_json = [&] { return next_line() ? json_of_line(line) : std::nullopt; };
  if (is_begun && next_json()) {
    const bool is_its = line + "\n" == head;
    if (is_its) whole = line.size() + 1;
    while (const std::optional<Json> entry = next_json()) {
      if (!is_its) fail_other_job(folder_);
      PackedShard packed = packed_shard_of(*entry);
      if (!contradiction_of_file(packed.shard, stores, folder_ / packed.shard.name).empty()) break;
      shards_.push_back(std::move(packed));
      whole += line.size() + 1;
    }
  }
  // First of all: where the store refuses it, it may have hidden a pack that was begun, whose journal is kept.
  if (whole == 0 && !folder_.is_local()) {
    put_whole(stores, folder_ / kJournalName, as_bytes("A pack is under way.\n"));
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(whole)) != 0) fail_system("write", path_, errno);
  if (whole > 0) return;
  append(head);
  sync_folder(Location(path_).parent().text());
}

void PackJournal::add(PackedShard shard) {
  append(checked_line(to_json(shard)));
  shards_.push_back(std::move(shard));
}

void PackJournal::append(const std::string& line) {
  write_fully(fd_, as_bytes(line), path_);
  if (::fsync(fd_.get()) != 0) fail_system("write", path_, errno);
}

void PackJournal::discard(const Location& folder, const Stores& stores) {
  const std::string path = path_of(folder);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_system("remove", path, errno);
  if (folder.is_local()) return sync_folder(folder.text());
  stores.of(folder).remove(folder / kJournalName);
}

}  // namespace stoker
