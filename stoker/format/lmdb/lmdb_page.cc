#include "stoker/format/lmdb/lmdb_page.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

constexpr std::size_t kPageKindAt = 10, kListEndAt = 12, kNodesAt = 14;
constexpr std::size_t kNodeFlagsAt = 4, kNodeKeyLengthAt = 6;

std::size_t page_u16(Bytes page, std::size_t at) { return load_little_endian<std::uint16_t>(page.data() + at); }

}  // namespace

bool begins_as_lmdb(Bytes head) {
  constexpr std::size_t kMagicAt32Bit = 12;  // behind a page's number of 4 bytes
  const auto is_magic = [&](std::size_t at) {
    if (head.size() < at + 4) return false;
    const auto magic = load_little_endian<std::uint32_t>(head.data() + at);
    return magic == kLmdbMagic || magic == __builtin_bswap32(kLmdbMagic);
  };
  return is_magic(kLmdbPageHeaderBytes) || is_magic(kMagicAt32Bit);
}

LmdbPage::LmdbPage(Bytes page, std::uint64_t number, LmdbPageKind kind) : page_(page), kind_(kind) {
  if (load_little_endian<std::uint64_t>(page.data()) != number) fail(ErrorKind::kData, "it has the number of another");
  if ((page_u16(page, kPageKindAt) & kLmdbPageKindMask) != kind) {
    fail(ErrorKind::kData, "it is not a {} page", kind == kLmdbBranch ? "branch" : "leaf");
  }
  const std::size_t list_end = page_u16(page, kListEndAt), nodes = page_u16(page, kNodesAt);
  // A page of 65,536 bytes without nodes would begin them at 65,536, which is 0; but no page has none.
  if (list_end < kLmdbPageHeaderBytes + 2 || list_end % 2 != 0 || nodes < list_end || nodes >= page.size()) {
    fail(ErrorKind::kData, "its list of nodes is damaged");
  }
  count_ = (list_end - kLmdbPageHeaderBytes) / 2;
}

LmdbNode LmdbPage::node(std::size_t i) const {
  const auto refuse = [] { fail(ErrorKind::kData, "a node leaves it"); };
  const std::size_t at = page_u16(page_, kLmdbPageHeaderBytes + 2 * i);
  if (at < kLmdbPageHeaderBytes + 2 * count_ || at + kLmdbNodeHeaderBytes > page_.size()) refuse();
  const std::size_t key_length = page_u16(page_, at + kNodeKeyLengthAt), key_at = at + kLmdbNodeHeaderBytes;
  if (key_length > page_.size() - key_at) refuse();
  const auto low = load_little_endian<std::uint32_t>(page_.data() + at);
  const auto flags = static_cast<std::uint16_t>(page_u16(page_, at + kNodeFlagsAt));
  LmdbNode node{.key = page_.subspan(key_at, key_length)};
  if (kind_ == kLmdbBranch) {
    node.child = low | static_cast<std::uint64_t>(flags) << 32;
    return node;
  }
  node.flags = flags;
  node.length = low;
  node.value_at = key_at + key_length;
  const bool is_big = flags & kLmdbBigData;
  if ((is_big ? sizeof(node.value_page) : node.length) > page_.size() - node.value_at) refuse();
  if (is_big) node.value_page = load_little_endian<std::uint64_t>(page_.data() + node.value_at);
  return node;
}

}  // namespace stoker
