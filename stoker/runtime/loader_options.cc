#include "stoker/runtime/loader_options.h"

#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<TuneMode> kTuneModeWords[] = {{TuneMode::kOn, "on"}, {TuneMode::kOnce, "once"}, {TuneMode::kOff, "off"}};
constexpr Word<CacheKind> kCaches[] = {{CacheKind::kNone, "none"}, {CacheKind::kRam, "ram"}};

}  // namespace

TuneMode parse_tune_mode(std::string_view word) { return value_of(kTuneModeWords, word, "no way to tune"); }

CacheKind parse_cache(std::string_view name) { return value_of(kCaches, name, "not a cache"); }

}  // namespace stoker
