// The record batches of a table of Arrow, by the IPC format, as a stream or a file of its own (version 4 or 5 of the
// metadata). A message:
//
//   0xffffffff, i32 length of the metadata; the metadata, of FlatBuffers; the body: buffers, one after another
//
// The first is the schema, each other a batch of rows; a length of 0 ends the stream. A file begins with "ARROW1\0\0",
// and a list of its batches follows the stream. A batch may have its buffers compressed, each by itself: then it begins
// with its length, i64, or with -1 where it is as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/arrow/arrow_schema.h"
#include "stoker/storage/block_source.h"

namespace stoker {

/// A part of what BlockPlaces::source() reads.
struct ArrowRange {
  std::uint64_t place = 0, bytes = 0;
};

struct ArrowBatch {
  struct Node {
    std::uint64_t rows = 0, nulls = 0;
  };

  std::uint64_t rows = 0;
  std::vector<Node> nodes{};          // of the columns, each before its children
  std::vector<ArrowRange> buffers{};  // in the same order
};

/// Threads: one.
class ArrowBatches {
 public:
  /// The table from `begin` to `end` in the source of `places`, where compressed buffers get theirs. It and next()
  /// throw kData naming the file if the table is damaged or has what Stoker does not read, and what reading throws.
  ArrowBatches(BlockPlaces& places, std::uint64_t begin, std::uint64_t end);

  const std::vector<ArrowField>& fields() const { return fields_; }
  /// Goes on to the next batch; false after the last.
  bool next();
  /// The batch at hand.
  const ArrowBatch& batch() const { return batch_; }

 private:
  struct Message {
    std::uint8_t type = 0;
    std::uint64_t body_at = 0, body_bytes = 0;
  };

  std::optional<Message> read_message();
  void read_batch(const Message& message, const FlatTable& header);
  ArrowRange place_of(const Message& message, Bytes buffer, bool is_compressed);
  template <typename Work>
  void name_faults(const Work& work) const;

  BlockPlaces& places_;
  std::uint64_t position_, end_;
  std::vector<std::uint8_t> metadata_;  // of the message at hand
  std::vector<ArrowField> fields_;
  ArrowBatch batch_;
};

}  // namespace stoker
