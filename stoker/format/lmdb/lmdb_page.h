// The pages of an LMDB file, as LMDB 0.9 lays them out on 64-bit machines; numbers are little-endian.
//
//   a page       u64 its number, u16 unused, u16 kind, u16 end of the list of nodes, u16 begin of the nodes,
//                then the list: u16 for each node, its place in the page. Of an overflow page the last two are one u32,
//                the number of pages in the run, and the value's bytes follow.
//   a node       u32 length of the value, u16 flags, u16 length of the key, the key, the value.
//                On a branch page the first six bytes are the number of the page below, and there is no value.
//                With kBigData the value is u64, the number of the overflow page where it is.
//   a meta page  after the page's header: u32 kLmdbMagic, u32 version, u64 address, u64 size of the map, the tree of
//                free pages, the main tree, u64 last page, u64 transaction
//   a tree       u32 (of the first: bytes of a page), u16 flags, u16 depth, u64 branch pages, u64 leaf pages,
//                u64 overflow pages, u64 entries, u64 root page
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/bytes.h"

namespace stoker {

inline constexpr std::uint32_t kLmdbMagic = 0xBEEFC0DE, kLmdbVersion = 1;
inline constexpr std::size_t kLmdbPageHeaderBytes = 16, kLmdbNodeHeaderBytes = 8, kLmdbMetaBytes = 136;
inline constexpr std::size_t kLmdbTreeBytes = 48;
inline constexpr std::size_t kLmdbPageBytesMin = 512, kLmdbPageBytesMax = 65536;
inline constexpr std::uint64_t kLmdbNoPage = ~std::uint64_t{0};

enum LmdbPageKind : std::uint16_t { kLmdbBranch = 0x01, kLmdbLeaf = 0x02, kLmdbOverflow = 0x04, kLmdbMeta = 0x08 };
/// The bits of a page's kind that say what it is; others are LMDB's own while it runs. 0x20 and 0x40: of values that
/// are sorted lists.
inline constexpr std::uint16_t kLmdbPageKindMask = 0x6F;

enum LmdbNodeFlags : std::uint16_t { kLmdbBigData = 0x01, kLmdbSubTree = 0x02, kLmdbDuplicates = 0x04 };

enum LmdbTreeFlags : std::uint16_t { kLmdbReverseKey = 0x02, kLmdbIntegerKey = 0x08 };

/// The newer of the two meta pages, as far as it is of use here.
struct LmdbMeta {
  std::uint32_t page_bytes = 0;
  std::uint16_t flags = 0, depth = 0;  // of the main tree
  std::uint64_t entries = 0, root = kLmdbNoPage, last_page = 0, transaction = 0;
};

/// Where the file begins as one of LMDB does; on 32-bit and big-endian machines, too.
bool begins_as_lmdb(Bytes head);

/// A node's key and what follows it: views of the page.
struct LmdbNode {
  Bytes key;
  std::uint16_t flags = 0;
  std::uint64_t child = 0;       // on a branch page
  std::uint32_t length = 0;      // of a leaf's value
  std::size_t value_at = 0;      // in the page
  std::uint64_t value_page = 0;  // with kLmdbBigData
};

/// One branch or leaf page.
class LmdbPage {
 public:
  /// Checks its header and the list of nodes. Throws kData, as a clause that says what is wrong.
  LmdbPage(Bytes page, std::uint64_t number, LmdbPageKind kind);

  std::size_t size() const { return count_; }
  /// Throws kData if the node leaves the page.
  LmdbNode node(std::size_t i) const;

 private:
  Bytes page_;
  LmdbPageKind kind_;
  std::size_t count_ = 0;
};

}  // namespace stoker
