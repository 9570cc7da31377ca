// Keeps the settled knobs in the user's cache: the next run of the same work on the same machine begins with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/tuner/knob_setting.h"

namespace stoker {

/// The work and machine that knobs were tuned for. Knobs tuned for others are not used.
struct TuningKey {
  std::string machine;       // and how many of its cores
  std::string device;        // "cpu" without one
  std::uint64_t data = 0;    // Dataset::fingerprint()
  std::uint64_t recipe = 0;  // of Recipe::to_toml()
  int batch = 0;
  int world = 1;  // ranks
};

class KeptTuning {
 public:
  /// `cache_folder` is the user's (base/user_cache.h); with an empty one nothing is kept.
  KeptTuning(const std::string& cache_folder, const TuningKey& key);

  /// Unset if nothing is kept for this key, or it cannot be read: it is only a starting point.
  std::optional<KnobSetting> load() const;
  /// If it cannot be written, it is not kept; the log says so.
  void save(const KnobSetting& knobs) const;

  const std::string& path() const { return path_; }

 private:
  const std::string head_;  // of the file: the key
  std::string path_;
};

}  // namespace stoker
