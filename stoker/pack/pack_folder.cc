#include "stoker/pack/pack_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/pack/checked_line.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

[[noreturn]] void fail_lost(const Location& pack, const std::string& file, const std::string& wrong) {
  fail(ErrorKind::kData, "the finished pack in '{}' has lost '{}' or part of it ({}); remove the folder to pack again",
       pack, file, wrong);
}

std::string mark_of(const std::string& job) { return checked_line({{"plan", job}}); }

}  // namespace

Location PackFolder::shard(const WritableFormat& format, std::size_t number) const {
  return folder_ / fmt::format("shard-{:06}.{}", number, format.ending());
}

void PackFolder::require_outside(const std::vector<Location>& data) const {
  for (const Location& source : data) {
    if (folder_.scheme() != source.scheme()) continue;  // and a server is not asked in vain
    const std::optional<ObjectFacts> facts = stores_.find(source);
    if (!facts || !facts->is_folder() || !stores_.of(folder_).lies_in(folder_, source)) continue;
    fail(ErrorKind::kUsage, "'{}' is in '{}', the data to pack; choose a folder outside of it", folder_, source);
  }
}

bool PackFolder::has_work_left() const {
  const std::optional<ObjectFacts> facts = stores_.find(folder_);
  if (facts && !facts->is_folder()) {
    fail(ErrorKind::kUsage, "'{}' exists and is not a folder; choose another name", folder_);
  }
  if (!facts) return true;
  std::optional<Manifest> finished;
  try {
    finished = Manifest::read(stores_, folder_);
  } catch (const Error& damaged) {
    fail(ErrorKind::kUsage, "{}; choose another folder, or remove it", damaged.message());
  }
  if (finished && finished->job == job_) {
    require_whole(*finished);
    return false;
  }
  if (finished) {
    fail(ErrorKind::kUsage, "'{}' holds another packed data set; choose another folder, or remove it", folder_);
  }
  if (stores_.find(folder_ / kJournalName)) {
    const std::string mark = read_whole(*stores_.open(folder_ / kJournalName));
    const bool is_plans = mark.starts_with("{\"plan\":");
    if (is_planned_ && !is_plans) {
      fail(ErrorKind::kUsage,
           "'{}' contains a pack that was begun without a plan; finish it without one, remove the folder, or choose "
           "another",
           folder_);
    }
    if (is_plans && mark != mark_of(job_)) {
      fail(ErrorKind::kUsage,
           "'{}' contains a pack that another plan has begun, with other data or options; continue with that plan, "
           "remove the folder, or choose another",
           folder_);
    }
    return true;
  }
  const std::unique_ptr<Folder> folder = stores_.list(folder_);
  for (std::size_t i = 0; i < folder->size(); ++i) {
    if ((*folder)[i].name.ends_with(kPartialEnding)) continue;  // of a pack that was killed as it began
    fail(ErrorKind::kUsage, "folder '{}' is not empty; choose another name, or remove its contents", folder_);
  }
  return true;
}

void PackFolder::require_whole(const Manifest& finished) const {
  for (const ManifestShard& shard : finished.shards) {
    if (const std::string wrong = contradiction_of_file(shard, stores_, folder_ / shard.name); !wrong.empty()) {
      fail_lost(folder_, shard.name, wrong);
    }
  }
  for (const ManifestFile& file : finished.files) {
    if (const std::string wrong = contradiction_of_file(file, stores_, folder_); !wrong.empty()) {
      fail_lost(folder_, file.name, wrong);
    }
  }
}

void PackFolder::mark() const {
  stores_.create_folder(folder_);
  put_whole(stores_, folder_ / kJournalName, as_bytes(mark_of(job_)));
}

void PackFolder::unmark() const { stores_.of(folder_).remove(folder_ / kJournalName); }

void PackFolder::finish(Manifest made, const WritableFormat& format, const PackContents& contents) const {
  std::vector<WrittenShard> shards;
  shards.reserve(made.shards.size());
  for (const ManifestShard& shard : made.shards) {
    shards.push_back({.name = shard.name, .bytes = shard.bytes, .samples = shard.samples});
  }
  for (const WrittenFile& file : format.files_beside(contents, shards)) {
    put_whole(stores_, folder_ / file.name, as_bytes(file.content));
    made.files.push_back({.name = file.name, .hash = hash64(file.content)});
  }
  finish(made);
}

void PackFolder::finish(const Manifest& made) const {
  put_whole(stores_, folder_ / kManifestName, as_bytes(made.to_json()));
}

Manifest manifest_of(const std::vector<PackedShard>& shards, PackedShard left_over, std::string job,
                     std::vector<std::string> classes) {
  Manifest manifest;
  manifest.classes = std::move(classes);
  manifest.job = std::move(job);
  manifest.bad = std::move(left_over.bad);
  manifest.concealed = left_over.concealed;
  for (const PackedShard& packed : shards) {
    manifest.shards.push_back(packed.shard);
    add_field_names(packed.fields, manifest.fields);
    manifest.bad.insert(manifest.bad.end(), packed.bad.begin(), packed.bad.end());
    manifest.concealed += packed.concealed;
  }
  std::sort(manifest.bad.begin(), manifest.bad.end(),
            [](const ManifestBad& a, const ManifestBad& b) { return a.sample < b.sample; });
  return manifest;
}

PackResult told_of(const Manifest& manifest) {
  PackResult result;
  result.shards = static_cast<std::int64_t>(manifest.shards.size());
  result.concealed = manifest.concealed;
  for (const ManifestShard& shard : manifest.shards) {
    result.samples += shard.samples;
    result.bytes += shard.bytes;
  }
  return result;
}

std::vector<BadSample> bad_samples_of(const Manifest& manifest, const Dataset& data, const Location& folder) {
  std::vector<BadSample> samples;
  SampleRow row;
  for (const ManifestBad& entry : manifest.bad) {
    if (entry.sample >= data.size()) {
      fail(ErrorKind::kData, "the manifest in '{}' names a bad sample that is not in the data: '{}'", folder,
           entry.key);
    }
    data.read(entry.sample, row);
    const std::uint64_t offset = row.fields.empty() ? 0 : row.fields.front().offset;
    samples.push_back({row.source->name(), entry.key, offset, entry.reason});
  }
  return samples;
}

}  // namespace stoker
