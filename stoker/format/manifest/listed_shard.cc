#include "stoker/format/manifest/listed_shard.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/units.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/sequential_reader.h"
#include "stoker/format/shard_format.h"

namespace stoker {
namespace {

constexpr std::string_view kWaysOut = "it was damaged or replaced; restore it, pack again, or remove the manifest";

std::uint64_t hash_of(Source& file, const std::stop_token& stop) {
  Hasher64 hasher;
  for (SequentialReader reader(file); reader.left() > 0;) {
    stop_if_asked(stop, file.name());
    hasher.update(reader.take(std::min<std::uint64_t>(reader.left(), SequentialReader::kBlockBytes)));
  }
  return hasher.digest();
}

}  // namespace

std::string contradiction_of_size(const ManifestShard& listed, const std::string& shard, std::uint64_t bytes) {
  if (bytes == listed.bytes) return {};
  return fmt::format("'{}' has {}, but the manifest beside it lists {}: {}", shard, byte_count(bytes), listed.bytes,
                     kWaysOut);
}

std::string contradiction_of_bytes(const ManifestShard& listed, const KeptEnd& shard) {
  const std::string& name = shard.source()->name();
  if (std::string of_size = contradiction_of_size(listed, name, shard.source()->size()); !of_size.empty())
    return of_size;
  if (!listed.index_tag || tag_of_index_inside(shard) == listed.index_tag) return {};
  return fmt::format("the index at the end of '{}' is not the one that the manifest beside it lists: {}", name,
                     kWaysOut);
}

std::string missing_beside(const ManifestShard& listed, const Stores& stores, const Location& shard) {
  for (const std::string& name : listed.beside) {
    if (stores.find(shard.parent() / name)) continue;
    return fmt::format("'{}' belongs to '{}' by the manifest beside it, and is not there: restore it, or pack again",
                       name, shard);
  }
  return {};
}

std::string contradiction_of_file(const ManifestShard& listed, const Stores& stores, const Location& shard) {
  std::string found;
  const auto fault = fault_of_data(
      [&] {
        found = contradiction_of_bytes(listed, stores.open(shard));
        if (found.empty()) found = missing_beside(listed, stores, shard);
      },
      !shard.is_local());
  return fault.value_or(found);
}

std::string contradiction_of_file(const ManifestFile& listed, const Stores& stores, const Location& folder,
                                  const std::stop_token& stop) {
  const Location file = folder / listed.name;
  if (!stores.find(file)) {
    return fmt::format("'{}' is listed in the manifest beside it, and is not there: restore it, or pack again", file);
  }
  std::string found;
  const auto fault = fault_of_data(
      [&] {
        if (hash_of(*stores.open(file), stop) == listed.hash) return;
        found = fmt::format("'{}' is not the one that the manifest beside it lists: {}", file, kWaysOut);
      },
      !file.is_local());
  return fault.value_or(found);
}

std::string contradiction_of_samples(const ManifestShard& listed, const std::string& shard, const Fingerprint& found,
                                     std::uint64_t sample_bytes) {
  if (found.samples() != listed.samples) {
    return fmt::format("'{}' holds {}, but the manifest beside it lists {}: {}", shard,
                       counted(found.samples(), "sample"), listed.samples, kWaysOut);
  }
  if (found.value() == listed.fingerprint.value() && sample_bytes == listed.sample_bytes) return {};
  return fmt::format("'{}' does not hold the samples that the manifest beside it lists: {}", shard, kWaysOut);
}

}  // namespace stoker
