// manifest.json of a packed data set.
#include <nlohmann/json.hpp>

#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/base/hash.h"
#include "stoker/format/manifest/manifest.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

void run(Bytes input) {
  Manifest manifest;
  const auto parse = [&] { manifest = Manifest::from_json(as_text(input), "manifest.json"); };
  if (!accepts({ErrorKind::kData}, parse)) return;
  for (const ManifestShard& shard : manifest.shards) {
    require_that(!shard.name.empty() && shard.name != "." && shard.name != ".." &&
                     shard.name.find('/') == std::string::npos && shard.name.find('\0') == std::string::npos,
                 "a shard lies in the manifest's folder");
    require_that(shard.samples >= 0 && shard.fingerprint.samples() == shard.samples, "a shard has samples");
    require_that(manifest.find(shard.name) != nullptr, "a shard is found by its name");
  }
  const std::string text = manifest.to_json();
  require_that(Manifest::from_json(text, "again").to_json() == text, "a manifest that was written is read as it was");
}

void repair(std::vector<std::uint8_t>& input) {
  constexpr std::string_view kMember = "checksum";
  Json json = Json::parse(input.begin(), input.end(), nullptr, false);
  if (!json.is_object() || !json.contains(kMember)) return;
  const auto text = [&json] { return json.dump(1, ' ', false, Json::error_handler_t::replace); };
  json["checksum"] = to_hex(0);
  json["checksum"] = to_hex(hash64(text()));
  const std::string repaired = text();
  input.assign(repaired.begin(), repaired.end());
}

const AnnounceFuzzTarget kTarget({.name = "manifest", .run = run, .repair = repair});

}  // namespace
}  // namespace stoker
