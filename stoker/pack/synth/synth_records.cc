#include "stoker/pack/synth/synth_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <optional>

#include "stoker/base/distributions.h"
#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/random.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/pack/ordered_producer.h"
#include "stoker/pack/synth/created_paths.h"
#include "stoker/pack/synth/record_writer.h"

namespace stoker {
namespace {

// The normal distribution is cut off at so many deviations, which leaves a smaller one: by how much, follows from its
// density and its integral there. UNet3D's deviation is nearly half of its mean; with these numbers its smallest record
// has 2.4 MB.
constexpr double kCutAt = 1.7, kDeviationOfCut = 0.80557;

void check_records(const std::string& out, const SynthRecordsOptions& options) {
  assert(options.workload);
  if (out.empty()) fail(ErrorKind::kUsage, "the output for the data set has an empty name");
  if (options.count < 1 || options.count > options.workload->samples()) {
    fail(ErrorKind::kUsage, "{} has {} samples, so count must be between 1 and that, not {}", options.workload->name,
         options.workload->samples(), options.count);
  }
  if (options.threads != 0) check_threads(options.threads);
}

void stop_if_told(const SynthRecordsOptions& options, const std::string& out) {
  if (!options.stop || !options.stop->load(std::memory_order_relaxed)) return;
  fail(ErrorKind::kClosed, "stopped; nothing is left of '{}'", out);
}

std::int64_t samples_of_file(const RecordFiles& files, std::int64_t count, std::int64_t file) {
  return std::min(files.samples_per_file, count - file * files.samples_per_file);
}

/// Returns the bytes of its records.
std::uint64_t write_file_of_records(const std::string& path, const std::string& out, const RecordFiles& files,
                                    std::int64_t file, const SynthRecordsOptions& options) {
  const std::unique_ptr<RecordWriter> writer = make_record_writer(options.workload->format, path);
  const std::int64_t first = file * files.samples_per_file;
  std::uint64_t all_bytes = 0;
  for (std::int64_t i = 0; i < samples_of_file(files, options.count, file); ++i) {
    stop_if_told(options, out);
    Random content(options.seed, 0, static_cast<std::uint64_t>(first + i), random_stream("synth", "record", 0));
    const std::uint64_t bytes = draw_record_bytes(*options.workload, options.seed, first + i);
    writer->add(bytes, content);
    all_bytes += bytes;
  }
  writer->finish();
  return all_bytes;
}

}  // namespace

std::uint64_t draw_record_bytes(const TrainingWorkload& workload, std::uint64_t seed, std::int64_t sample) {
  double deviations = 0;
  if (workload.record_bytes_sd > 0) {
    Random random(seed, 0, static_cast<std::uint64_t>(sample), random_stream("synth", "record bytes", 0));
    do {
      deviations = draw_normal(random);
    } while (std::abs(deviations) > kCutAt);
  }
  const double bytes = workload.record_bytes + deviations / kDeviationOfCut * workload.record_bytes_sd;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, std::llround(bytes)));
}

RecordFiles record_files(const TrainingWorkload& workload, std::int64_t count) {
  const auto parts = [count](std::int64_t size) { return (count + size - 1) / size; };
  const std::int64_t samples_per_file = std::min(workload.samples_per_file, parts(RecordFiles::kFilesMin));
  return {.files = parts(samples_per_file), .samples_per_file = samples_per_file};
}

SynthRecords synthesize_records(const std::string& out, const SynthRecordsOptions& options) {
  check_records(out, options);
  CreatedPaths created;
  created.claim_empty_folder(out);
  const std::string folder = out + "/train";
  created.create_folder(folder);
  SynthRecords made{.files = record_files(*options.workload, options.count)};
  const std::size_t digits = std::to_string(made.files.files).size();
  std::int64_t claimed = 0;
  const auto claim = [&](const std::stop_token&) {
    return claimed < made.files.files ? std::optional(claimed++) : std::nullopt;
  };
  const auto make = [&](std::int64_t file) {
    const std::string name =
        fmt::format("img_{:0{}}_of_{}.{}", file, digits, made.files.files, options.workload->format);
    const std::string path = folder + "/" + name;
    const std::uint64_t bytes = write_file_of_records(path, out, made.files, file, options);
    created.add_file(path);
    return bytes;
  };
  OrderedProducer<std::int64_t, std::uint64_t> producer(options.threads ? options.threads : usable_cores(), claim,
                                                        [&] { return make; });
  std::int64_t done = 0;
  for (std::int64_t file = 0; file < made.files.files; ++file) {
    made.bytes += *producer.next();
    done += samples_of_file(made.files, options.count, file);
    if (options.progress) options.progress(done, options.count);
  }
  created.keep();
  return made;
}

}  // namespace stoker
