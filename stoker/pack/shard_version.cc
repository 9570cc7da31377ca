#include "stoker/pack/shard_version.h"

#include <fmt/format.h>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/format/open/shard_opener.h"

namespace stoker {
namespace {

/// Without the number of a file, which is another on each machine that has a copy.
std::string version_text(const ObjectFacts& facts) {
  return fmt::format("{} {}.{:09} {}", facts.size, facts.modified.tv_sec, facts.modified.tv_nsec, facts.tag);
}

/// Of all files that hold samples, in the order of the samples.
void add_files(const FoundShard& shard, const Stores& stores, const std::stop_token& stop, Hasher64& into) {
  const OpenedShard opened = ShardOpener(stores, {}, 0).open(shard, stop);
  SampleRow row;
  for (std::int64_t sample = 0; sample < opened.rows->size(); ++sample) {
    opened.rows->read(sample, row);
    stop_if_asked(stop, opened.source->name());
    for (const SampleField& field : row.fields) {
      if (field.part.empty()) continue;  // it lies in the list
      const ObjectFacts facts = stores.stat(opened.source->name_of(field.part), "look at");
      into.update(as_bytes(fmt::format("{} {}\n", field.part, version_text(facts))));
    }
  }
}

}  // namespace

std::string shard_version(const FoundShard& shard, const Stores& stores, const std::stop_token& stop) {
  const ObjectFacts facts = stores.stat(shard.location, "look at");
  if (shard.format->is_one_file()) return version_text(facts);
  Hasher64 hasher;
  if (facts.is_file()) hasher.update(as_bytes(version_text(facts)));
  const auto fault = fault_of_data([&] { add_files(shard, stores, stop, hasher); }, !shard.location.is_local());
  if (fault) hasher.update(as_bytes(*fault));  // which the job finds, too
  return to_hex(hasher.digest());
}

}  // namespace stoker
