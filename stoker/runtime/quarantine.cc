#include "stoker/runtime/quarantine.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/format/json_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

std::string identity(std::string_view shard, std::string_view key) {
  std::string text(shard.substr(shard.rfind('/') + 1));
  text += '\0';
  return text.append(key);
}

std::string identity_in(const std::string& line, const std::string& path) {
  try {
    const Json entry = Json::parse(line);
    return identity(name_of(entry.at("shard")), name_of(entry.at("key")));
  } catch (const std::exception&) {
    fail(ErrorKind::kUsage, "'{}' exists and is no list of bad samples; choose another name", path);
  }
}

}  // namespace

Quarantine::Quarantine(const std::string& path) : path_(path) {
  std::ifstream list(path, std::ios::binary);
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) known_.insert(identity_in(line, path));
  }
  file_.reset(std::fopen(path.c_str(), "ae"));
  if (!file_) fail(ErrorKind::kIo, "cannot write the list of bad samples {}: {}", path, std::strerror(errno));
}

bool Quarantine::contains(const SampleRow& row) const {
  return !known_.empty() && known_.contains(identity(row.source->name(), row.key));
}

void Quarantine::add(const BadSample& bad) {
  const std::string sample = identity(bad.shard, bad.key);
  if (known_.contains(sample) || !added_.insert(sample).second) return;
  const std::string line = bad_sample_line(bad);
  // Flushed at once, so that what was met is on record however the run ends.
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0) {
    fail(ErrorKind::kIo, "cannot write the list of bad samples {}: {}", path_, std::strerror(errno));
  }
}

}  // namespace stoker
