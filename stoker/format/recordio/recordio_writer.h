// Writes a RecordIO file, as MXNet's recordio does; recordio_reader.h has its bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/hash.h"
#include "stoker/storage/object_writer.h"

namespace stoker {

/// The file takes its name in finish(), whole and on disk; a writer destroyed before that removes it.
class RecordIoWriter {
 public:
  explicit RecordIoWriter(std::unique_ptr<ObjectWriter> object) : object_(std::move(object)) {}

  struct Record {
    std::uint64_t begin = 0;  // of its frame in the file
    bool is_split = false;    // it holds the magic number, so that its bytes are not one range of the file
  };

  /// Throws kLimit for data longer than a record can be, and kIo naming the object; the writer is good for nothing
  /// after that.
  Record add(Bytes data);
  /// Bytes so far, and their XXH3-64.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t hash() const { return hasher_.digest(); }
  void finish() { object_->commit(); }

 private:
  void append_part(std::uint32_t kind, Bytes part);

  std::unique_ptr<ObjectWriter> object_;
  std::vector<std::uint8_t> framed_;  // the record at hand, as it lies in the file
  Hasher64 hasher_;
  std::uint64_t bytes_ = 0;
};

/// Replaces `record` by an image and its header, as im2rec writes them: with one label in the header, or with several
/// after it. `labels` are 32-bit floats as they lie in memory, little-endian, one or more.
void make_image_record(std::vector<std::uint8_t>& record, std::uint64_t id, Bytes labels, Bytes image);

}  // namespace stoker
