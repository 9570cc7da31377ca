// The members of a group, in each of the three ways in which HDF5 keeps them:
//
//   symbol table    the header's message has the addresses of a B-tree of version 1 and of a heap of names ("HEAP");
//                   the leaves ("SNOD") have entries: length, where the name is in the heap; address of the object's
//                   header; u32 1 a group, 2 a link by name; u32 0; 16 bytes
//   link messages   in the header: u8 1, u8 flags (bits 0-1 bytes of the name's length, 2 has an order, 3 has a kind, 4
//                   has a set of characters), [u8 kind: 0 an object], [8 bytes], [u8], the length, the name; of an
//                   object its header's address
//   dense links     the same messages in a fractal heap ("FRHP"), by a B-tree of version 2 whose records are u32 a hash
//                   of the name, and the place in the heap: u8 kind, the offset, the length
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/hdf5/hdf5_object.h"

namespace stoker {

struct Hdf5Member {
  std::string name;
  std::uint64_t address = 0;  // of its header

  bool operator<(const Hdf5Member& other) const { return name < other.name; }
};

struct Hdf5Group {
  std::vector<Hdf5Member> members{};  // by name
  std::uint64_t links = 0;            // that lead to a name, in this file or another; they are no members here
};

inline constexpr std::size_t kHdf5MembersMax = 4096;

/// Whether an object that is no dataset is a group.
bool is_hdf5_group(const Hdf5Object& object);

/// Throws kData if what the group consists of is damaged or a member's name is longer than kNameBytesMax, kLimit if it
/// has more than kHdf5MembersMax members.
Hdf5Group read_hdf5_group(Hdf5File& file, const Hdf5Object& object);

}  // namespace stoker
