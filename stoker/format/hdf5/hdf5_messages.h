// What the messages of a dataset's header say: its shape, the type of its elements, where they lie, and the filters
// that they went through.
//
//   dataspace 1, 2  u8 version, u8 axes, u8 flags (1: with maxima), version 1: 5 bytes, version 2: u8 0 a number, 1 an
//                   array, 2 nothing; lengths: the axes, [the maxima]
//   datatype        u8 class and, four bits up, version; 3 bytes of bits; u32 bytes of an element; what the class needs
//   layout 3        u8 3, u8 0 compact: u16 bytes, the elements; 1 contiguous: address, length; 2 chunks: u8 axes + 1,
//                   address of a B-tree, u32 for each axis of a chunk, u32 bytes of an element
//   layout 4, 5     u8 version, u8 0, 1: as above; 2: u8 flags (1 does not filter the last chunk, 2 has one filtered
//                   chunk), u8 axes + 1, u8 bytes of the numbers that follow for the axes; u8 kind of index, what it
//                   was made with, its address
//   filters 1, 2    u8 version, u8 filters, version 1: 6 bytes; of each filter: u16 number, u16 length of the name
//                   (version 2: for numbers from 256 on), u16 flags, u16 values, the name, u32 values
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/hdf5/hdf5_object.h"

namespace stoker {

struct Hdf5Type {
  enum class Kind {
    kNumber,
    kBytes,    // a string or opaque, always of `size`
    kVarying,  // of any length, in a heap: `element` says of what
    kOther,    // Stoker does not read
  };
  enum class Padding { kNone, kZeros, kSpaces };  // after a string that is shorter than `size`

  Kind kind = Kind::kOther;
  std::uint64_t size = 0;  // bytes of one, as it lies in the dataset
  std::string element{};   // of numbers: numpy's name without the byte order, "u1"; empty of bytes
  std::uint64_t element_size = 1;
  bool is_big_endian = false;
  Padding padding = Padding::kNone;
  std::string_view other{};  // for messages: "compound values"

  bool is_integer() const { return kind == Kind::kNumber && element[0] != 'f'; }
};

/// How the chunks of a dataset are found.
enum class Hdf5ChunkIndex : std::uint8_t {
  kTree = 0,  // a B-tree of version 1
  kSingle = 1,
  kImplicit = 2,
  kFixedArray = 3,
  kExtensibleArray = 4,
  kNewTree = 5,  // a B-tree of version 2
};

struct Hdf5Layout {
  std::string unsupported{};  // what Stoker cannot read of it, as a clause; empty if it can
  bool is_chunked = false;
  std::uint64_t address = kHdf5Nowhere;  // of the elements, or of the index of chunks
  std::uint64_t bytes = 0;               // of the elements, if they are not in chunks
  std::vector<std::uint64_t> chunk{};    // along each axis
  Hdf5ChunkIndex index = Hdf5ChunkIndex::kTree;
  bool leaves_last_unfiltered = false;
  // Of the only chunk, if it was filtered.
  bool is_single_filtered = false;
  std::uint64_t single_bytes = 0;
  std::uint32_t single_mask = 0;
};

struct Hdf5Filter {
  enum Number : std::uint16_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3, kLzf = 32000 };
  std::uint16_t number = 0;
  std::string name{};  // "filter 32001"
};

struct Hdf5Dataset {
  std::string name;
  std::vector<std::uint64_t> shape{}, shape_max{};  // along each axis; shape_max: kHdf5Nowhere without a bound
  Hdf5Type type{};
  Hdf5Layout layout{};
  std::vector<Hdf5Filter> filters{};

  std::uint64_t rows() const { return shape.front(); }
  /// Whether it has elements, and none lies anywhere.
  bool was_never_written() const { return layout.unsupported.empty() && layout.address == kHdf5Nowhere && rows() > 0; }
  /// Elements of a step along the first axis; 0 if they are more than can be.
  std::uint64_t row_elements() const;
};

/// Whether the object is a dataset, and has axes. Throws kData if the header is damaged.
bool is_hdf5_array(Hdf5File& file, const Hdf5Object& object);

/// Of such an object. Throws kData for messages that are damaged; what Stoker does not read is in the dataset.
Hdf5Dataset read_hdf5_dataset(Hdf5File& file, const Hdf5Object& object, std::string name);

}  // namespace stoker
