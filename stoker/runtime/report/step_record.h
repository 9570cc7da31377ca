// The time of a training step as the last real training on some data, with some recipe, had it: kept as a small JSON in
// the user's cache folder, where the doctor finds it ("replay").
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stoker {

/// The training that steps belong to.
struct StepKey {
  std::uint64_t data = 0;    // Dataset::fingerprint()
  std::uint64_t recipe = 0;  // Recipe::hash()
};

struct StepRecord {
  double median_s = 0;           // of a step's time, as if all data were there
  double low_s = 0, high_s = 0;  // the quartiles
  std::int64_t count = 0;        // steps that were timed
  int batch = 0;                 // samples that each rank takes in a step
  int world = 1;                 // ranks
  std::string how{};             // "replay": cached batches were given again; "waits": less the waits for batches
  std::string machine{};         // machine_name()
  std::int64_t recorded_s = 0;   // since 1970

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

class KeptStep {
 public:
  /// `cache_folder` is the user's (base/user_cache.h); with an empty one nothing is kept.
  KeptStep(const std::string& cache_folder, const StepKey& key);

  /// Unset if no training has left one, or it cannot be read; the log says so.
  std::optional<StepRecord> load() const;
  /// In place of what an earlier training left. If it cannot be written, it is not kept; the log says so.
  void save(const StepRecord& record) const;

  /// Empty if nothing is kept.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stoker
