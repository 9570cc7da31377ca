// open_dataset: from what the user wrote to one data set.
#include <algorithm>
#include <memory>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/format/dataset.h"
#include "stoker/format/find_shards.h"
#include "stoker/format/shard_opener.h"

namespace stoker {
namespace {

// The memory that rows of indexes may take: those of some 600,000 samples.
constexpr std::size_t kIndexCacheBytes = std::size_t{64} << 20;

std::string list_names(const std::vector<std::string>& classes) {
  if (classes.empty()) return "no class names";
  const std::string_view more = classes.size() > 2 ? ", ..." : "";
  return fmt::format("{} classes ({}{}{}{})", classes.size(), classes[0], classes.size() > 1 ? ", " : "",
                     classes.size() > 1 ? classes[1] : "", more);
}

/// Class numbers mean the same everywhere in a data set, so its shards must name the same classes.
void require_same_classes(const std::string& a, const std::vector<std::string>& of_a, const std::string& b,
                          const std::vector<std::string>& of_b) {
  if (of_a == of_b) return;
  fail(ErrorKind::kData, "'{}' has {} but '{}' has {}; data sets that are joined must have the same classes", a,
       list_names(of_a), b, list_names(of_b));
}

void log_problems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) log(LogLevel::kWarning, "{}", problem);
}

void add_names(const std::vector<std::string>& names, std::vector<std::string>& into) {
  for (const std::string& name : names) {
    if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
  }
}

}  // namespace

std::shared_ptr<const Dataset> open_dataset(const std::vector<std::string>& data, const FileAccess& access,
                                            const IndexOptions& index, const std::stop_token& stop) {
  const ShardOpener opener(access, index, kIndexCacheBytes);
  Manifests manifests;
  std::vector<std::unique_ptr<DataShard>> shards;
  std::vector<std::string> fields, first_classes;
  for (const ShardPath& shard : find_shards(data, manifests, stop)) {
    stop_if_asked(stop, shard.path);
    std::vector<std::string> classes;
    const Manifests::Found listed = index.use ? manifests.find(shard.path) : Manifests::Found();
    if (listed.shard) {
      const auto open_later = [opener, shard] {
        OpenedShard opened = opener.open(shard);
        log_problems(opened.problems);
        return opened;
      };
      shards.push_back(std::make_unique<DataShard>(shard.path, listed.shard->samples, listed.shard->sample_bytes,
                                                   listed.shard->fingerprint, open_later));
      add_names(listed.manifest->fields, fields);
      classes = listed.manifest->classes;
    } else {
      OpenedShard opened = opener.open(shard, stop);
      log_problems(opened.problems);
      classes = opened.classes;
      add_names(opened.rows->field_names(), fields);
      shards.push_back(std::make_unique<DataShard>(std::move(opened)));
    }
    log_problems(manifests.take_problems());
    if (shards.size() == 1) first_classes = classes;
    require_same_classes(shards.front()->name(), first_classes, shard.path, classes);
  }
  return std::make_shared<Dataset>(std::move(shards), std::move(fields), std::move(first_classes));
}

}  // namespace stoker
