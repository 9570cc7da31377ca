#include "stoker/runtime/open.h"

#include <algorithm>
#include <utility>

#include "stoker/base/user_cache.h"
#include "stoker/base/words.h"
#include "stoker/format/open/path_pattern.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/runtime/thread_pool.h"

namespace stoker {
namespace {

constexpr Word<IoKind> kIoKinds[] = {{IoKind::kAuto, "auto"}, {IoKind::kUring, "uring"}, {IoKind::kPread, "pread"}};

// Opening a shard mostly waits: for its index or for the headers of its members, and for a server much longer.
constexpr int kOpenThreads = 8, kOpenThreadsFar = 32;
constexpr int kShardsQueued = 1024;

}  // namespace

std::string_view to_string(IoKind kind) { return word_of(kIoKinds, kind); }

IoKind parse_io(std::string_view name) { return value_of(kIoKinds, name, "not a way to read"); }

std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const std::stop_token& stop,
                                    const OpenOptions& options) {
  if (options.tokens && options.tokens->field.empty()) {
    const Stores stores = open_stores(options, stop);
    std::vector<Location> files;
    for (const std::string& pattern : data) {
      for (Location& file : expand_pattern(Location(pattern), stores)) files.push_back(std::move(file));
    }
    return open_tokens(files, stores, *options.tokens, stop);
  }
  const IndexOptions index{.use = options.use_indexes,
                           .folder = options.index_folder,
                           .cache_folder = user_cache_folder(),
                           .images = options.fields.image};
  const bool far = std::any_of(data.begin(), data.end(), [](const Location& one) { return !one.is_local(); });
  auto opening = make_shared_at_home<ThreadPool>("stoker-open", far ? kOpenThreadsFar : kOpenThreads, kShardsQueued);
  std::shared_ptr<const Dataset> opened =
      open_dataset(data, open_stores(options, stop), index, stop, std::move(opening));
  if (options.tokens) return open_tokens_of(opened, *options.tokens, stop);
  return with_fields(std::move(opened), options.fields, stop);
}

std::shared_ptr<const Dataset> open(const std::string& data, const std::stop_token& stop, const OpenOptions& options) {
  return open(std::vector{data}, stop, options);
}

}  // namespace stoker
