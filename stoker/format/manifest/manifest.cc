#include "stoker/format/manifest/manifest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/json_values.h"
#include "stoker/base/parse_number.h"
#include "stoker/format/json_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "stoker-manifest";
constexpr int kManifestVersion = 1;
constexpr std::uint64_t kManifestBytesMax = std::uint64_t{1} << 30;

std::uint64_t from_hex(const std::string& text) {
  const std::optional<std::uint64_t> value = parse_number<std::uint64_t>(text, 16);
  if (!value || text.size() != 16) throw std::invalid_argument("a hash is not sixteen hexadecimal digits");
  return *value;
}

Json names_json(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name_json(name));
  return list;
}

std::vector<std::string> names_of(const Json& list) {
  if (!list.is_array()) throw std::invalid_argument("its names are not a list");
  std::vector<std::string> names;
  for (const Json& name : list) names.push_back(name_of(name));
  return names;
}

std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

/// A count that is written as one. Sums over all shards stay below 2^63, too.
std::uint64_t count_of(const Json& entry, const char* name, std::uint64_t& sum) {
  const Json& value = entry.at(name);
  if (!value.is_number_unsigned()) throw std::invalid_argument("a size in it is not a whole number");
  const auto count = value.get<std::uint64_t>();
  if (count > INT64_MAX - sum) throw std::invalid_argument("its shards are larger than any disk");
  sum += count;
  return count;
}

void parse_bad(const Json& json, Manifest& manifest) {
  if (!json.contains("bad")) return;  // manifests did not always say
  std::uint64_t sum = 0;
  manifest.concealed = static_cast<std::int64_t>(count_of(json, "concealed", sum));
  for (const Json& entry : json.at("bad")) {
    std::uint64_t number = 0;
    ManifestBad& bad = manifest.bad.emplace_back();
    bad.sample = static_cast<std::int64_t>(count_of(entry, "sample", number));
    bad.key = name_of(entry.at("key"));
    bad.reason = name_of(entry.at("reason"));
  }
}

void parse_files(const Json& json, Manifest& manifest) {
  if (!json.contains("files")) return;  // most formats have none
  for (const Json& entry : json.at("files")) {
    ManifestFile& file = manifest.files.emplace_back();
    file.name = name_of(entry.at("name"));
    file.hash = from_hex(entry.at("hash"));
    if (!is_plain_name(file.name)) throw std::invalid_argument("a file's name leads out of the folder");
  }
}

void parse_tokens(const Json& json, Manifest& manifest) {
  if (!json.contains("tokens")) return;
  const Json& entry = json.at("tokens");
  const auto number = [&](const char* name) {
    std::uint64_t none = 0;
    return static_cast<std::int64_t>(count_of(entry, name, none));
  };
  manifest.tokens = {.documents = number("documents"),
                     .tokens = number("tokens"),
                     .words = number("words"),
                     .unknown = number("unknown")};
}

/// Another program's file may have the name, too. Where a few bytes are damaged, ours still has one word or the other.
bool is_of_others(const std::string& text) {
  for (const std::string_view word : {kFormat, std::string_view("\"fingerprint\"")}) {
    if (text.find(word) != std::string::npos) return false;
  }
  return Json::accept(text);
}

Manifest parse(std::string_view text) {
  if (is_json_too_deep(text)) throw std::invalid_argument("it is nested too deeply");
  Json json = Json::parse(text);
  if (json.at("format") != kFormat) throw std::invalid_argument("it is not a manifest of Stoker");
  if (json.at("version") != kManifestVersion) throw std::invalid_argument("it is of another version of Stoker");
  const std::uint64_t checksum = from_hex(json.at("checksum").get<std::string>());
  json["checksum"] = to_hex(0);
  if (hash64(dump(json)) != checksum) throw std::invalid_argument("its checksum does not match");

  Manifest manifest;
  manifest.job = json.at("job");
  manifest.fields = names_of(json.at("fields"));
  manifest.classes = names_of(json.at("classes"));
  parse_bad(json, manifest);
  parse_files(json, manifest);
  parse_tokens(json, manifest);
  std::uint64_t bytes = 0, samples = 0, sample_bytes = 0;  // of all shards
  for (const Json& entry : json.at("shards")) {
    ManifestShard& shard = manifest.shards.emplace_back();
    shard.name = entry.at("name");
    if (!is_plain_name(shard.name)) throw std::invalid_argument("a shard's name leads out of the folder");
    shard.bytes = count_of(entry, "bytes", bytes);
    shard.hash = from_hex(entry.at("hash"));
    shard.samples = static_cast<std::int64_t>(count_of(entry, "samples", samples));
    shard.sample_bytes = count_of(entry, "sample_bytes", sample_bytes);
    shard.fingerprint = Fingerprint(from_hex(entry.at("fingerprint")), shard.samples);
    if (entry.contains("index")) shard.index_tag = from_hex(entry.at("index"));
    if (entry.contains("beside")) shard.beside = names_of(entry.at("beside"));
    if (!std::all_of(shard.beside.begin(), shard.beside.end(), is_plain_name)) {
      throw std::invalid_argument("the name of a file beside a shard leads out of the folder");
    }
  }
  std::uint64_t none = 0;
  if (count_of(json, "samples", none) != samples) {
    throw std::invalid_argument("the number of its samples is not the sum of its shards'");
  }
  return manifest;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

const ManifestShard* Manifest::find(std::string_view name) const {
  // Shards stand in the order of their names where Stoker packed them.
  const auto found = std::find_if(shards.begin(), shards.end(), [&](const auto& shard) { return shard.name == name; });
  return found == shards.end() ? nullptr : &*found;
}

std::string Manifest::to_json() const {
  Json json = {{"format", kFormat}, {"version", kManifestVersion}, {"checksum", to_hex(0)}};
  std::int64_t samples = 0;
  for (const ManifestShard& shard : shards) samples += shard.samples;
  json["samples"] = samples;
  json["fields"] = names_json(fields);
  json["classes"] = names_json(classes);
  json["job"] = job;
  json["concealed"] = concealed;
  json["bad"] = Json::array();
  for (const ManifestBad& sample : bad) {
    json["bad"].push_back(
        {{"sample", sample.sample}, {"key", name_json(sample.key)}, {"reason", name_json(sample.reason)}});
  }
  for (const ManifestFile& file : files) {
    json["files"].push_back({{"name", name_json(file.name)}, {"hash", to_hex(file.hash)}});
  }
  if (tokens) {
    json["tokens"] = {{"documents", tokens->documents},
                      {"tokens", tokens->tokens},
                      {"words", tokens->words},
                      {"unknown", tokens->unknown}};
  }
  json["shards"] = Json::array();
  for (const ManifestShard& shard : shards) {
    Json& entry = json["shards"].emplace_back(Json{{"name", shard.name},
                                                   {"samples", shard.samples},
                                                   {"bytes", shard.bytes},
                                                   {"hash", to_hex(shard.hash)},
                                                   {"fingerprint", to_hex(shard.fingerprint.value())},
                                                   {"sample_bytes", shard.sample_bytes}});
    if (shard.index_tag) entry["index"] = to_hex(*shard.index_tag);
    if (!shard.beside.empty()) entry["beside"] = names_json(shard.beside);
  }
  json["checksum"] = to_hex(hash64(dump(json)));
  std::string text = dump(json) + "\n";
  if (text.size() > kManifestBytesMax) {
    fail(ErrorKind::kLimit, "the manifest of {} shards and {} bad samples would be longer than 1 GiB", shards.size(),
         bad.size());
  }
  return text;
}

Manifest Manifest::from_json(std::string_view text, const std::string& path) {
  try {
    return parse(text);
  } catch (const Json::exception&) {
    fail(ErrorKind::kData, "'{}' is damaged: it is not a manifest of Stoker", path);
  } catch (const std::invalid_argument& error) {
    fail(ErrorKind::kData, "'{}' cannot be used: {}", path, error.what());
  }
}

std::optional<Manifest> Manifest::read(const Stores& stores, const Location& folder) {
  const Location location = folder / kManifestName;
  if (!stores.find(location)) return std::nullopt;
  const std::shared_ptr<Source> file = stores.open(location);
  if (file->size() > kManifestBytesMax) fail(ErrorKind::kLimit, "'{}' is over 1 GiB long", location);
  const std::string text = read_whole(*file);
  if (is_of_others(text)) return std::nullopt;
  return from_json(text, location.shown());
}

}  // namespace stoker
