// Statistics of a data set: from its indexes if they have the facts, else from the images' headers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/field_choice.h"
#include "stoker/pack/sample_description.h"
#include "stoker/storage/stores.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Counts by powers of two: bucket b counts values from 2^b up to 2^(b+1) - 1; zero counts as one.
class Histogram {
 public:
  void add(std::uint64_t value);
  /// By bucket, up to the last that is not empty.
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
};

struct InfoOptions {
  FieldChoice fields{};                  // that hold images and labels, where the usual ones are not meant
  std::optional<std::int64_t> sample{};  // to be described, as an example
  std::string index_folder{};
  int threads = 0;  // 0: as many as the process may use cores
  // Budget in bytes for all that the job holds; unset: default_job_memory().
  std::optional<std::uint64_t> memory{};
  DecodeLimits limits{};                                                  // of images; larger ones are bad samples
  std::stop_token stop{};                                                 // requested to stop early
  std::function<void(std::int64_t done, std::int64_t total)> progress{};  // in samples; by the calling thread
  Stores stores{};  // where data lie and go; without more, local files
};

/// JPEGs that Stoker's own decoder leaves to libjpeg, for one reason.
struct LibraryImages {
  std::int64_t count = 0;
  std::string first;  // its place and key
};

struct DataInfo {
  std::int64_t samples = 0, shards = 0, indexed = 0;
  std::int64_t classes = 0;  // named ones, else labels that occur
  std::int64_t labelled = 0;
  std::uint64_t bytes = 0;           // of all fields
  std::vector<std::string> formats;  // of the shards, in order of first appearance
  std::vector<std::string> fields;
  std::map<Codec, std::int64_t> codecs;  // images by codec
  std::uint64_t image_bytes = 0, pixels = 0;
  std::int64_t images = 0;                               // whose facts are known
  std::int64_t own_decoder = 0;                          // of them, those that Stoker's own decoder takes
  std::map<std::string, LibraryImages> left_to_libjpeg;  // by reason
  std::int64_t concealed = 0;
  Histogram sizes, short_sides;  // bytes of images, and pixels
  int width_max = 0, height_max = 0;
  std::vector<std::string> problems;
  std::optional<SampleDescription> sample{};  // if it was asked for, and its shard is not broken

  double bits_per_pixel() const {
    return pixels ? 8.0 * static_cast<double>(image_bytes) / static_cast<double>(pixels) : 0;
  }
  double own_decoder_share() const {
    return images ? static_cast<double>(own_decoder) / static_cast<double>(images) : 0;
  }
};

/// Goes on after shards that are broken, which are problems. Throws for data that is not there, kUsage for a sample
/// that is not there, kMemory for what the machine refuses, and kClosed when stopped.
DataInfo data_info(const std::vector<std::string>& data, const InfoOptions& options);

}  // namespace stoker
