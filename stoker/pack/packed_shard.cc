#include "stoker/pack/packed_shard.h"

#include <nlohmann/json.hpp>

#include "stoker/pack/checked_line.h"

namespace stoker {

using Json = nlohmann::json;

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

PackedShard packed_shard_of(const Json& json) {
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

}  // namespace stoker
