// A file of synthetic records, in one of the formats that training workloads have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/random.h"

namespace stoker {

/// Writes records one after another, as the format has them. Threads: one.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;

  /// A record of so many bytes, at least 1, drawn from `random`. Throws kIo naming the file.
  virtual void add(std::uint64_t bytes, Random& random) = 0;
  virtual void finish() = 0;
};

/// `format`: "tfrecord", "npz", "jpeg" or "parquet". The last is of several samples a file, npz and jpeg are of one.
/// Throws kIo or kNotFound naming the file, which must not exist.
std::unique_ptr<RecordWriter> make_record_writer(std::string_view format, const std::string& path);

}  // namespace stoker
