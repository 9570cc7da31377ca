// Makes data sets like those of a published training workload (device/accelerator_profiles.h): files of its format,
// named and laid out as its benchmark does, of records of noise, which no storage can compress, in its sizes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "stoker/device/accelerator_profiles.h"

namespace stoker {

struct SynthRecordsOptions {
  const TrainingWorkload* workload = nullptr;
  std::int64_t count = 0;  // samples
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core; each holds a record
  /// Called as files are done, in order, by the thread that called synthesize_records().
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
  /// Once it reads true, synthesize_records() removes what it wrote and throws kClosed.
  const std::atomic<bool>* stop = nullptr;
};

/// How so many samples of a workload are divided among files: as many in each as the workload has, but at least
/// kFilesMin files if there are as many samples, so that a small part is read like a large one.
struct RecordFiles {
  static constexpr std::int64_t kFilesMin = 8;

  std::int64_t files = 0, samples_per_file = 0;  // the last file may have fewer
};
RecordFiles record_files(const TrainingWorkload& workload, std::int64_t count);

struct SynthRecords {
  RecordFiles files;
  std::uint64_t bytes = 0;  // of the records
};

/// Writes OUT/train/img_0_of_8.npz, ... The sizes of records are normally distributed, cut off and widened so that mean
/// and deviation are the workload's and no size is near 0. The bytes written depend on workload, count and seed alone,
/// never on the machine or the thread count (given the same version of libjpeg). `out` and what is thrown are as for
/// synthesize(); throws kUsage, too, for a count that the workload does not have.
///
/// tfrecord: a tf.train.Example with the features "image" (the record) and "size"; npz: arrays "x" (1 x height x width,
/// the record) and "y"; parquet: a column "record"; jpeg: a picture of grey noise, filled up to its size by a comment.
SynthRecords synthesize_records(const std::string& out, const SynthRecordsOptions& options);

/// The size of a record: exposed for tests.
std::uint64_t draw_record_bytes(const TrainingWorkload& workload, std::uint64_t seed, std::int64_t sample);

}  // namespace stoker
