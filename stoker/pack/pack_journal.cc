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
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/stores.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

// Names may hold bytes that are not text; JSON gets them as Latin-1.
std::string to_json_text(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string from_json_text(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80 || i + 1 == text.size()) {
      bytes += text[i];
    } else {
      bytes += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    }
  }
  return bytes;
}

Json to_json(const PackedShard& packed) {
  Json bad = Json::array();
  for (const ManifestBad& sample : packed.bad) {
    bad.push_back({sample.sample, to_json_text(sample.key), to_json_text(sample.reason)});
  }
  const ManifestShard& shard = packed.shard;
  Json fields = Json::array();
  for (const std::string& name : packed.fields) fields.push_back(to_json_text(name));
  Json json = {{"name", shard.name},
               {"bytes", shard.bytes},
               {"hash", shard.hash},
               {"samples", shard.samples},
               {"sample_bytes", shard.sample_bytes},
               {"fingerprint", shard.fingerprint.value()},
               {"beside", shard.beside},
               {"fields", fields},
               {"next", packed.next_position},
               {"bad", bad},
               {"concealed", packed.concealed}};
  if (shard.index_tag) json["index"] = *shard.index_tag;
  return json;
}

PackedShard from_json(const Json& json) {
  PackedShard packed;
  ManifestShard& shard = packed.shard;
  shard = {.name = json.at("name"),
           .bytes = json.at("bytes"),
           .hash = json.at("hash"),
           .samples = json.at("samples"),
           .sample_bytes = json.at("sample_bytes"),
           .fingerprint = {json.at("fingerprint").get<std::uint64_t>(), json.at("samples").get<std::int64_t>()},
           .beside = json.value("beside", std::vector<std::string>())};
  if (json.contains("index")) shard.index_tag = json.at("index").get<std::uint64_t>();
  for (const Json& name : json.at("fields")) packed.fields.push_back(from_json_text(name));
  packed.next_position = json.at("next");
  packed.concealed = json.at("concealed");
  for (const Json& sample : json.at("bad")) {
    packed.bad.push_back({sample.at(0), from_json_text(sample.at(1)), from_json_text(sample.at(2))});
  }
  return packed;
}

/// A line ends in the hash of what stands before it: a torn one is told from a whole one.
std::string as_line(const Json& json) {
  const std::string text = json.dump();
  return text + "\t" + to_hex(hash64(text)) + "\n";
}

std::optional<Json> from_line(const std::string& line) {
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string::npos) return std::nullopt;
  const std::string text = line.substr(0, tab);
  if (line.substr(tab + 1) != to_hex(hash64(text))) return std::nullopt;
  return Json::parse(text);
}

/// Where the journal of the pack in a folder is kept.
std::string path_of(const Location& folder) {
  if (folder.is_local()) return (folder / kJournalName).text();
  const std::string cache = user_cache_folder();
  if (cache.empty()) {
    fail(ErrorKind::kUsage, "a pack into '{}' keeps its progress in the cache folder: set STOKER_CACHE_DIR", folder);
  }
  return fmt::format("{}/packs/{}", cache, to_hex(hash64(folder.text())));
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
  const std::string head = as_line(Json{{"job", to_json_text(job)}});
  const bool is_begun = folder_.is_local() || stores.find(folder_ / kJournalName);
  // A line that lacks its end is torn, too: what is appended would stand on it.
  const auto next_line = [&] { return std::getline(file, line) && !file.eof(); };
  if (is_begun && next_line() && from_line(line)) {
    if (line + "\n" != head) {
      fail(ErrorKind::kUsage,
           "'{}' contains a pack that was begun with other options, or from data that have changed since; remove the "
           "folder, or choose another",
           folder_);
    }
    whole = line.size() + 1;
    while (next_line()) {
      const std::optional<Json> entry = from_line(line);
      if (!entry) break;
      PackedShard packed = from_json(*entry);
      if (!contradiction_of_file(packed.shard, stores, folder_ / packed.shard.name).empty()) break;
      shards_.push_back(std::move(packed));
      whole += line.size() + 1;
    }
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(whole)) != 0) fail_system("write", path_, errno);
  if (whole > 0) return;
  append(head);
  sync_folder(Location(path_).parent().text());
  if (!folder_.is_local()) put_whole(stores, folder_ / kJournalName, as_bytes("A pack is under way.\n"));
}

void PackJournal::add(PackedShard shard) {
  append(as_line(to_json(shard)));
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
