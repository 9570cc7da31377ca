// The items of a LitData chunk: each is the bytes of one sample. Numbers are little-endian:
//
//   u32          number of items, n
//   u32 * (n+1)  where in the chunk each item begins; the last is where the last ends
//                items
//
// Such a chunk may be compressed as a whole, by zstd, or have each item compressed by itself. Newer versions of litdata
// write a table of Arrow after the items, which may then be empty, if its samples are dictionaries of nothing but
// numbers, texts, bytes, lists and dictionaries:
//
//   the table, in the IPC format; u32 its length; "LDARW01\0"
//
// Or the items are compressed, some at a time, in frames of zstd:
//
//   "LDFZ01\0\0", u16 version 1, u16 flags, u32 n, u32 items a frame, u32 number of frames, f
//   u32 * (n+1)  where each item begins in all frames, decompressed
//   f times      u32 number of its first item, u32 of items, u64 offset, u32 stored length, u32 length
//                frames
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/sequential_reader.h"
#include "stoker/storage/block_source.h"

namespace stoker {

/// Threads: one.
class LitDataChunk {
 public:
  /// More than an item may take of memory.
  static constexpr std::uint64_t kItemBytesMax = std::uint64_t{1} << 30;

  /// The source must outlive it. `is_zstd_by_one`: whether items are compressed one by one. It and next() throw kData
  /// naming the file if it is damaged or truncated, and what reading throws.
  explicit LitDataChunk(Source& source, bool is_zstd_by_one = false);

  std::uint32_t items() const { return items_; }
  /// The number of the item at hand.
  std::uint32_t number() const { return taken_ - 1; }
  /// Where in places().source() the table lies that has the samples in the place of the items; nothing without one.
  struct Table {
    std::uint64_t begin = 0, end = 0;
  };
  const std::optional<Table>& table() const { return table_; }
  /// Goes on to the next item; false after the last.
  bool next();
  /// The bytes of the item at hand, until the next one's, and where they appear to lie in places().source().
  Bytes item() const { return item_; }
  std::uint64_t offset() const { return offset_; }

  /// Gives places to what lies in the chunk otherwise.
  BlockPlaces& places() { return *places_; }

 private:
  struct Frame {
    std::uint32_t first, items;
    CompressedBlock block;
  };

  std::uint64_t read_prefix();
  void open_plain();
  void open_framed();
  Frame take_frame();
  void begin_frame();
  void find_table();
  void inflate_item();
  void require_end();
  std::uint32_t take_end();

  Source& source_;
  const bool is_zstd_by_one_;
  std::optional<BlockPlaces> places_;
  Source* bytes_ = nullptr;             // of the chunk as it is without compression
  std::uint64_t begin_ = 0, size_ = 0;  // of the chunk in them
  std::uint64_t items_at_ = 0;          // in bytes_: what is at item offset 0
  bool is_framed_ = false;
  std::uint32_t items_ = 0, taken_ = 0;
  std::optional<SequentialReader> ends_, frames_, data_;
  std::uint32_t frames_left_ = 0, frame_end_ = 0;  // the number of the item after the frame
  std::uint64_t stored_end_ = 0;                   // of the frames so far
  std::uint32_t end_ = 0;                          // of the item at hand, as the offsets say it
  Bytes item_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint8_t> inflated_;  // what item_ shows, if it was compressed by itself
  std::optional<Table> table_;
};

/// Whether a chunk that is not compressed as a whole can begin so.
bool is_litdata_chunk(Bytes beginning);

}  // namespace stoker
