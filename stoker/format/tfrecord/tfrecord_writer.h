// Writes a TFRecord file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/hash.h"
#include "stoker/storage/object_writer.h"

namespace stoker {

/// The file takes its name in finish(), whole and on disk; a writer destroyed before that removes it.
class TfRecordWriter {
 public:
  explicit TfRecordWriter(std::unique_ptr<ObjectWriter> object) : object_(std::move(object)) {}

  /// Returns where in the file the data begin. Throws kIo naming the object; the writer is good for nothing after that.
  std::uint64_t add(Bytes data);
  /// Bytes so far, and their XXH3-64.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t hash() const { return hasher_.digest(); }
  void finish() { object_->commit(); }

 private:
  void write(Bytes bytes);

  std::unique_ptr<ObjectWriter> object_;
  Hasher64 hasher_;
  std::uint64_t bytes_ = 0;
};

/// Makes a tf.train.Example, feature by feature. The same features in the same order are the same bytes.
class ExampleBuilder {
 public:
  void clear();
  void add_bytes(std::string_view name, const std::vector<Bytes>& values);
  void add_floats(std::string_view name, const std::vector<float>& values);
  /// The same of 32-bit floats as they lie in memory, little-endian, whatever they are.
  void add_packed_floats(std::string_view name, Bytes floats);
  void add_integers(std::string_view name, const std::vector<std::int64_t>& values);

  /// The message: until the next call.
  Bytes message();

 private:
  void add_feature(std::string_view name, std::string_view feature);

  std::string features_, message_;
};

}  // namespace stoker
