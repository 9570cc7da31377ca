// The main tree of an LMDB file, entry by entry in the order of its keys. Stoker goes from page to page itself: LMDB's
// library maps the file and trusts it. Nothing is written, and nothing is locked.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/ascending_reader.h"
#include "stoker/format/lmdb/lmdb_page.h"
#include "stoker/storage/source.h"

namespace stoker {

/// The meta page that counts. Throws kData naming the file if none is valid, or if Stoker cannot read what it tells of.
LmdbMeta read_lmdb_meta(Source& source);

struct LmdbEntry {
  Bytes key;  // until the cursor moves on
  std::uint16_t flags = 0;
  std::uint64_t offset = 0, length = 0;  // of the value, in the file
};

/// Threads: one.
class LmdbCursor {
 public:
  /// Of LMDB's own cursors.
  static constexpr std::size_t kDepthMax = 32;

  /// The source must outlive it. Throws kData for a tree that is too deep.
  LmdbCursor(Source& source, const LmdbMeta& meta);

  /// Replaces `into` by the next entry; false after the last. Each key is above the one before it, so no page of a
  /// damaged file is visited twice. Throws kData naming the file and the page, and what the source throws.
  bool next(LmdbEntry& into);
  /// Goes to before the first entry whose key is not below this one.
  void seek(Bytes key);

  /// A part of the value of the entry that next() gave last: until the next call.
  Bytes read(const LmdbEntry& entry, std::uint64_t at, std::size_t count);

 private:
  struct Level {
    std::uint64_t number = 0;
    std::vector<std::uint8_t> page;
    std::optional<LmdbPage> nodes{};  // views of `page`
    std::size_t next = 0;
  };

  void rewind();
  void descend(std::uint64_t number);
  /// Goes below: to the last child that may hold `key`.
  void descend_to(Bytes key);
  LmdbNode node(const Level& level, std::size_t i) const;
  void require_order(Bytes key, std::uint64_t page);
  void locate(const LmdbNode& node, const Level& leaf, LmdbEntry& into);
  /// Negative, 0 or positive, as the tree orders its keys.
  int compare(Bytes a, Bytes b) const;
  template <typename... Args>
  [[noreturn]] void fail_page(std::uint64_t number, fmt::format_string<Args...> format, Args&&... args) const;
  /// Throws if so many pages from `number` on are not all in the file.
  void require_pages(std::uint64_t number, std::uint64_t count) const;

  Source& source_;
  const LmdbMeta meta_;
  AscendingReader pages_, values_;
  std::vector<Level> levels_;  // as many as the tree is deep; their memory is used again
  std::size_t depth_ = 0;      // of those, how many the cursor is in
  std::optional<std::vector<std::uint8_t>> last_key_;
  std::uint64_t seen_ = 0;
  bool from_beginning_ = true;
};

}  // namespace stoker
