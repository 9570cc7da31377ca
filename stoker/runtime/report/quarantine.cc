#include "stoker/runtime/report/quarantine.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/format/json_text.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/posix_file.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

std::string identity(std::string_view shard, std::string_view key) {
  std::string text(shard.substr(shard.rfind('/') + 1));
  text += '\0';
  return text.append(key);
}

/// The sample that a line describes; nullopt for a line that is not an entry.
std::optional<std::string> identity_in(const std::string& line) {
  std::optional<std::string> shard, key;
  const auto take = [](std::optional<std::string>& name, std::string_view rest, const nlohmann::json& value) {
    if (!value.is_string()) return;
    const auto& text = value.get_ref<const std::string&>();
    if (rest.empty()) name = text;
    if (rest == "/hex") name = name_of_hex(text);
  };
  bool whole = false;
  try {
    whole = for_each_json_value(line, [&](std::string_view pointer, const nlohmann::json& value) {
      if (pointer.starts_with("/shard")) take(shard, pointer.substr(6), value);
      if (pointer.starts_with("/key")) take(key, pointer.substr(4), value);
    });
  } catch (const std::invalid_argument&) {
    whole = false;
  }
  if (!whole || !shard || !key) return std::nullopt;
  return identity(*shard, *key);
}

}  // namespace

Quarantine::Quarantine(const std::string& path) : path_(path), file_(nullptr, std::fclose) {
  FileDescriptor own = own_output(path);
  std::error_code error;  // ignored: opening it to append says what is wrong
  // A pipe or a device is only written to, and so is a file that the rest of our output goes to.
  const bool ends_in_line = !own && std::filesystem::is_regular_file(path, error) && read_list();
  file_.reset(own ? ::fdopen(own.get(), "w") : std::fopen(path.c_str(), "ae"));
  if (!file_) fail(ErrorKind::kIo, "cannot write the list of bad samples {}: {}", path, std::strerror(errno));
  own.release();
  if (ends_in_line) std::fputc('\n', file_.get());  // written with the first entry
}

bool Quarantine::read_list() {
  std::ifstream list(path_, std::ios::binary);
  bool has_others = false, ends_in_line = false;
  for (std::string line; std::getline(list, line);) {
    ends_in_line = list.eof();
    if (line.empty()) continue;
    if (std::optional<std::string> sample = identity_in(line)) {
      known_.insert(*std::move(sample));
    } else {
      has_others = true;  // torn by a full disk, say
    }
  }
  if (has_others && known_.empty()) {
    fail(ErrorKind::kUsage, "'{}' exists and is not a list of bad samples; choose another name", path_);
  }
  return ends_in_line;
}

bool Quarantine::contains(const SampleRow& row) const {
  return !known_.empty() && known_.contains(identity(row.source->name(), row.key));
}

bool Quarantine::contains(const BadSample& bad) const { return known_.contains(identity(bad.shard, bad.key)); }

void Quarantine::add(const BadSample& bad) {
  const std::string sample = identity(bad.shard, bad.key);
  if (known_.contains(sample) || !added_.insert(sample).second) return;
  const std::string line = bad_sample_line(bad);
  // Flushed immediately, so that each bad sample is on record however the run ends.
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0) {
    fail(ErrorKind::kIo, "cannot write the list of bad samples {}: {}", path_, std::strerror(errno));
  }
}

}  // namespace stoker
