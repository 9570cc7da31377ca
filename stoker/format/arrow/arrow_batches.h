// The record batches of a table of Arrow, by the IPC format, as a stream or a file of its own (version 4 or 5 of the
// metadata). A message:
//
//   0xffffffff, i32 length of the metadata; the metadata, of FlatBuffers; the body: buffers, one after another
//
// The first is the schema, each other a batch of rows, or of a dictionary's values; a length of 0 ends the stream. A
// file begins with "ARROW1\0\0"; after its stream follow a list of its batches, which Stoker does not need, i32 the
// list's length and "ARROW1". A batch may have its buffers compressed, each by itself: such a buffer begins with its
// length, i64, or with -1 where it is as it was.
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
  std::uint64_t body_bytes = 0;               // that its buffers lie in, which may overlap
  bool is_compressed = false;                 // each buffer by itself
  std::vector<Node> nodes{};                  // of the columns, each before its children
  std::vector<ArrowRange> buffers{};          // in the same order
  std::vector<std::uint64_t> view_buffers{};  // of each column of views: how many it has besides its rows
  std::optional<std::int64_t> dictionary{};   // the values of the dictionary of this number
  bool goes_on = false;                       // they follow those that it has already
};

/// Whether a table may begin so.
bool begins_arrow(Bytes head);

/// Threads: one.
class ArrowBatches {
 public:
  /// The table from `begin` to `end` in the source of `places`, where compressed buffers get theirs. It and next()
  /// throw kData naming the file if the table is damaged or has what Stoker does not read, and what reading throws.
  ArrowBatches(BlockPlaces& places, std::uint64_t begin, std::uint64_t end);

  const std::vector<ArrowField>& fields() const { return fields_; }
  /// What `datasets` of Hugging Face notes about the columns, as JSON; empty where it notes nothing.
  const std::string& huggingface() const { return huggingface_; }
  /// Whether a mark ended the table, once next() has come to its end: a stream may end without one.
  bool has_end_mark() const { return has_end_mark_; }
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
  void open_file();
  ArrowRange place_of(const Message& message, Bytes buffer, std::optional<BlockCodec> codec);
  template <typename Work>
  void name_faults(const Work& work) const;

  BlockPlaces& places_;
  std::uint64_t position_, end_;
  std::vector<std::uint8_t> metadata_;  // of the message at hand
  std::vector<ArrowField> fields_;
  std::string huggingface_;
  bool has_end_mark_ = false;
  ArrowBatch batch_;
};

}  // namespace stoker
