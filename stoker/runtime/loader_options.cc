#include "stoker/runtime/loader_options.h"

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/base/words.h"
#include "stoker/storage/cache/cached_object.h"
#include "stoker/storage/location.h"

namespace stoker {
namespace {

constexpr Word<TuneMode> kTuneModeWords[] = {{TuneMode::kOn, "on"}, {TuneMode::kOnce, "once"}, {TuneMode::kOff, "off"}};
constexpr std::string_view kDiskPrefix = "disk=";
constexpr Word<CacheKind> kCaches[] = {
    {CacheKind::kNone, "none"}, {CacheKind::kRam, "ram"}, {CacheKind::kDisk, "disk=DIR:SIZE"}};

void set_disk_cache(LoaderOptions& options, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    fail(ErrorKind::kUsage, "'{}' is not a folder and a size; write disk=DIR:SIZE, for instance disk=/nvme/cache:200GB",
         text);
  }
  options.cache_bytes_max = parse_size(text.substr(colon + 1));
  constexpr std::uint64_t kLeast = CachedObject::kChunkBytes * CachedObject::kSegmentChunks;  // written at once
  if (options.cache_bytes_max < kLeast) {
    fail(ErrorKind::kUsage, "a cache of {} keeps nothing; give it at least {}",
         format_size(static_cast<double>(options.cache_bytes_max)), whole_megabytes(kLeast));
  }
  options.cache_folder = text.substr(0, colon);
  require_local(options.cache_folder, "a disk cache");
  options.cache = CacheKind::kDisk;
}

}  // namespace

TuneMode parse_tune_mode(std::string_view word) { return value_of(kTuneModeWords, word, "no way to tune"); }

void set_cache(LoaderOptions& options, std::string_view text) {
  if (text.starts_with(kDiskPrefix)) return set_disk_cache(options, text.substr(kDiskPrefix.size()));
  options.cache = value_of(kCaches, text, "not a cache");
}

}  // namespace stoker
