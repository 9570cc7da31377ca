#include "stoker/format/lmdb/lmdb_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

std::uint64_t meta_u64(Bytes meta, std::size_t at) { return load_little_endian<std::uint64_t>(meta.data() + at); }
std::uint32_t meta_u32(Bytes meta, std::size_t at) { return load_little_endian<std::uint32_t>(meta.data() + at); }
std::uint16_t meta_u16(Bytes meta, std::size_t at) { return load_little_endian<std::uint16_t>(meta.data() + at); }

constexpr std::size_t kMetaPageBytes = kLmdbPageHeaderBytes + kLmdbMetaBytes;

bool is_page_size(std::uint64_t bytes) {
  return std::has_single_bit(bytes) && bytes >= kLmdbPageBytesMin && bytes <= kLmdbPageBytesMax;
}

/// The meta page at `offset`; nothing if none is there.
std::optional<LmdbMeta> meta_at(Source& source, std::uint64_t offset) {
  if (source.size() < offset + kMetaPageBytes) return std::nullopt;
  std::array<std::uint8_t, kMetaPageBytes> page;
  read_fully(source, offset, page);
  const Bytes meta = Bytes(page).subspan(kLmdbPageHeaderBytes);
  if (!(meta_u16(page, 10) & kLmdbMeta) || meta_u32(meta, 0) != kLmdbMagic) return std::nullopt;
  if (meta_u32(meta, 4) != kLmdbVersion) {
    fail(ErrorKind::kData, "'{}' is an LMDB file of version {}, and Stoker reads version {}", source.name(),
         meta_u32(meta, 4), kLmdbVersion);
  }
  constexpr std::size_t kTreesAt = 24, kMainAt = kTreesAt + kLmdbTreeBytes, kAfterTrees = kMainAt + kLmdbTreeBytes;
  LmdbMeta found{.page_bytes = meta_u32(meta, kTreesAt),
                 .flags = meta_u16(meta, kMainAt + 4),
                 .depth = meta_u16(meta, kMainAt + 6),
                 .entries = meta_u64(meta, kMainAt + 32),
                 .root = meta_u64(meta, kMainAt + 40),
                 .last_page = meta_u64(meta, kAfterTrees),
                 .transaction = meta_u64(meta, kAfterTrees + 8)};
  if (!is_page_size(found.page_bytes)) return std::nullopt;
  return found;
}

/// The second meta page begins at the second page, whose size only the metas know: the first one if it is valid.
std::optional<LmdbMeta> second_meta(Source& source, const std::optional<LmdbMeta>& first) {
  if (first) return meta_at(source, first->page_bytes);
  for (std::size_t bytes = kLmdbPageBytesMin; bytes <= kLmdbPageBytesMax; bytes *= 2) {
    const std::optional<LmdbMeta> found = meta_at(source, bytes);
    if (found && found->page_bytes == bytes) return found;
  }
  return std::nullopt;
}

[[noreturn]] void fail_without_meta(Source& source) {
  std::array<std::uint8_t, kMetaPageBytes> head{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  read_fully(source, 0, MutableBytes(head).first(count));
  const Bytes there = Bytes(head).first(count);
  const bool is_here_little = count > 20 && meta_u32(there, kLmdbPageHeaderBytes) == kLmdbMagic;
  if (begins_as_lmdb(there) && !is_here_little) {
    fail(ErrorKind::kData,
         "'{}' was written by LMDB on a 32-bit or big-endian machine, whose files Stoker does not read; copy it with "
         "mdb_dump there and mdb_load here",
         source.name());
  }
  fail(ErrorKind::kData, "'{}' has no valid meta page of LMDB: it is damaged, truncated, or something else",
       source.name());
}

}  // namespace

LmdbMeta read_lmdb_meta(Source& source) {
  const std::optional<LmdbMeta> first = meta_at(source, 0), second = second_meta(source, first);
  if (!first && !second) fail_without_meta(source);
  if (first && second && first->page_bytes != second->page_bytes) {
    fail(ErrorKind::kData, "'{}' is damaged: its two meta pages tell of pages of {} and of {}", source.name(),
         byte_count(first->page_bytes), byte_count(second->page_bytes));
  }
  const std::uint64_t metas = std::uint64_t{2} * (first ? first : second)->page_bytes;
  if (source.size() < metas) {
    fail(ErrorKind::kData, "'{}' is truncated: it has {}, and the two meta pages alone take {}", source.name(),
         byte_count(source.size()), metas);
  }
  if (!second) return *first;
  return !first || second->transaction > first->transaction ? *second : *first;
}

LmdbCursor::LmdbCursor(Source& source, const LmdbMeta& meta)
    : source_(source), meta_(meta), pages_(source), values_(source) {
  const bool is_empty = meta.root == kLmdbNoPage;
  if (meta.depth > kDepthMax || is_empty != (meta.depth == 0) || (is_empty && meta.entries != 0)) {
    fail(ErrorKind::kData, "'{}' is damaged: its meta page tells of a tree of depth {} with {}", source.name(),
         meta.depth, counted(meta.entries, "key"));
  }
  levels_.resize(meta.depth);
  rewind();
}

template <typename... Args>
void LmdbCursor::fail_page(std::uint64_t number, fmt::format_string<Args...> format, Args&&... args) const {
  fail(ErrorKind::kData, "'{}' is damaged or truncated at page {}: {}", source_.name(), number,
       fmt::format(format, std::forward<Args>(args)...));
}

void LmdbCursor::require_pages(std::uint64_t number, std::uint64_t count) const {
  constexpr std::uint64_t kMetaPages = 2;
  if (number < kMetaPages || number > meta_.last_page || count > meta_.last_page - number + 1) {
    fail_page(number, "{} there would not all be among the pages 2 to {} of data", counted(count, "page"),
              meta_.last_page);
  }
  const std::uint64_t pages = pages_.size() / meta_.page_bytes;
  if (number >= pages || count > pages - number) {
    fail_page(number, "the file has {}, too few for {} there", byte_count(pages_.size()), counted(count, "page"));
  }
}

void LmdbCursor::descend(std::uint64_t number) {
  require_pages(number, 1);
  const Bytes bytes = pages_.read(number * meta_.page_bytes, meta_.page_bytes);
  Level& level = levels_[depth_];
  level.page.assign(bytes.begin(), bytes.end());
  level.number = number;
  level.next = 0;
  const bool is_leaf = depth_ + 1 == levels_.size();
  try {
    level.nodes.emplace(level.page, number, is_leaf ? kLmdbLeaf : kLmdbBranch);
  } catch (const Error& wrong) {
    fail_page(number, "{}", wrong.message());
  }
  ++depth_;
}

LmdbNode LmdbCursor::node(const Level& level, std::size_t i) const {
  try {
    return level.nodes->node(i);
  } catch (const Error& wrong) {
    fail_page(level.number, "{}", wrong.message());
  }
}

int LmdbCursor::compare(Bytes a, Bytes b) const {
  const auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if ((meta_.flags & kLmdbIntegerKey) && a.size() == b.size() && (a.size() == 4 || a.size() == 8)) {
    if (a.size() == 4) return order(meta_u32(a, 0), meta_u32(b, 0));
    return order(meta_u64(a, 0), meta_u64(b, 0));
  }
  if (meta_.flags & kLmdbReverseKey) {
    const auto common = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    const auto [x, y] = std::mismatch(a.rbegin(), a.rbegin() + common, b.rbegin());
    return x == a.rbegin() + common ? order(a.size(), b.size()) : order(*x, *y);
  }
  return as_text(a).compare(as_text(b));
}

void LmdbCursor::require_order(Bytes key, std::uint64_t page) {
  if (last_key_ && compare(key, *last_key_) <= 0) {
    fail_page(page, "its keys are not in the order of the tree");
  }
  if (!last_key_) last_key_.emplace();
  last_key_->assign(key.begin(), key.end());
}

void LmdbCursor::rewind() {
  depth_ = 0;
  seen_ = 0;
  last_key_.reset();
  if (!levels_.empty()) descend(meta_.root);
}

void LmdbCursor::seek(Bytes key) {
  rewind();
  from_beginning_ = false;
  if (levels_.empty()) return;
  while (depth_ < levels_.size()) descend_to(key);
  Level& leaf = levels_.back();
  while (leaf.next < leaf.nodes->size() && compare(node(leaf, leaf.next).key, key) < 0) ++leaf.next;
}

void LmdbCursor::descend_to(Bytes key) {
  Level& here = levels_[depth_ - 1];
  std::size_t child = 0;  // the first one's key stands for all that are lower
  while (child + 1 < here.nodes->size() && compare(node(here, child + 1).key, key) <= 0) ++child;
  here.next = child + 1;
  descend(node(here, child).child);
}

bool LmdbCursor::next(LmdbEntry& into) {
  while (depth_ > 0) {
    Level& here = levels_[depth_ - 1];
    if (here.next == here.nodes->size()) {
      --depth_;
      continue;
    }
    const LmdbNode found = node(here, here.next++);
    if (depth_ < levels_.size()) {
      descend(found.child);
      continue;
    }
    require_order(found.key, here.number);
    locate(found, here, into);
    ++seen_;
    return true;
  }
  if (from_beginning_ && seen_ != meta_.entries) {
    fail(ErrorKind::kData, "'{}' is damaged: it has {}, and its meta page tells of {}", source_.name(),
         counted(seen_, "key"), format_count(meta_.entries));
  }
  return false;
}

void LmdbCursor::locate(const LmdbNode& node, const Level& leaf, LmdbEntry& into) {
  into = {.key = node.key, .flags = node.flags, .offset = 0, .length = node.length};
  if (!(node.flags & kLmdbBigData)) {
    into.offset = leaf.number * meta_.page_bytes + node.value_at;
    return;
  }
  const std::uint64_t bytes = kLmdbPageHeaderBytes + std::uint64_t{node.length};
  const std::uint64_t pages = (bytes + meta_.page_bytes - 1) / meta_.page_bytes;
  require_pages(node.value_page, pages);
  into.offset = node.value_page * meta_.page_bytes + kLmdbPageHeaderBytes;
  const Bytes header = values_.read(node.value_page * meta_.page_bytes, kLmdbPageHeaderBytes);
  const bool is_run = meta_u64(header, 0) == node.value_page &&
                      (meta_u16(header, 10) & kLmdbPageKindMask) == kLmdbOverflow && meta_u32(header, 12) >= pages;
  if (!is_run) fail_page(node.value_page, "no value of {} begins there", byte_count(node.length));
}

Bytes LmdbCursor::read(const LmdbEntry& entry, std::uint64_t at, std::size_t count) {
  if (entry.flags & kLmdbBigData) return values_.read(entry.offset + at, count);
  const Level& leaf = levels_.back();
  return Bytes(leaf.page).subspan(entry.offset - leaf.number * meta_.page_bytes + at, count);
}

}  // namespace stoker
