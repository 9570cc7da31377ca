#include "stoker/format/hdf5/hdf5_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::uint8_t kAxesMax = 32;

struct Hdf5Space {
  bool is_array = false;
  std::vector<std::uint64_t> shape{}, shape_max{};
};

Hdf5Fields fields_of(Hdf5File& file, const Hdf5Message& message, std::string_view what) {
  Hdf5Fields fields = file.read(message.address, message.bytes, what);
  if (message.is_shared) {
    fail(ErrorKind::kData,
         "'{}': {} at byte {} is shared by several objects, which Stoker does not read; h5repack "
         "writes files without",
         file.name(), what, fields.address());
  }
  return fields;
}

Hdf5Space read_space(Hdf5File& file, const Hdf5Message& message) {
  Hdf5Fields fields = fields_of(file, message, "the shape of a dataset");
  const std::uint8_t version = fields.version(1, 2);
  const std::uint8_t axes = fields.u8();
  const bool has_maxima = (fields.u8() & 1) != 0;
  if (axes > kAxesMax) fields.refuse(fmt::format("it has {} axes", axes));
  Hdf5Space space;
  if (version == 1) {
    fields.skip(5);
    space.is_array = axes > 0;
  } else {
    space.is_array = fields.u8() == 1 && axes > 0;
  }
  for (int i = 0; i < axes; ++i) space.shape.push_back(fields.number(file.length_bytes()));
  for (int i = 0; i < axes && has_maxima; ++i) space.shape_max.push_back(fields.address(file.length_bytes()));
  if (!has_maxima) space.shape_max = space.shape;
  return space;
}

/// The names of numpy for numbers of that class and size, where it has one.
std::string numpy_type(char letter, std::uint64_t size, bool is_float) {
  const bool is_known = size == 2 || size == 4 || size == 8 || (size == 1 && !is_float);
  return is_known ? fmt::format("{}{}", letter, size) : "";
}

std::string_view other_class(std::uint8_t number) {
  switch (number) {
    case 2: return "times";
    case 4: return "bit fields";
    case 6: return "compound values";
    case 7: return "references";
    case 10: return "arrays in each element";
    case 11: return "complex numbers";
    default: return "an unknown type";
  }
}

Hdf5Type read_type(Hdf5Fields& fields, int depth = 0) {
  enum Class : std::uint8_t { kInteger = 0, kFloat = 1, kString = 3, kOpaque = 5, kEnumeration = 8, kVarying = 9 };
  const std::uint8_t head = fields.u8();
  const auto type_class = static_cast<std::uint8_t>(head & 15);
  if (head >> 4 < 1 || head >> 4 > 5) fields.refuse(fmt::format("its version is {}", head >> 4));
  const auto bits = static_cast<std::uint32_t>(fields.number(3));
  Hdf5Type type;
  type.size = fields.u32();
  if (type.size == 0) fields.refuse("its elements have no bytes");
  type.element_size = type.size;
  const auto as_number = [&](char letter, bool is_float) {
    type.element = numpy_type(letter, type.size, is_float);
    type.kind = type.element.empty() ? Hdf5Type::Kind::kOther : Hdf5Type::Kind::kNumber;
    type.other = "numbers of an unusual size";
    type.is_big_endian = (bits & 1) != 0 && type.size > 1;
  };
  switch (type_class) {
    case kInteger: as_number((bits & 8) != 0 ? 'i' : 'u', false); return type;
    case kFloat: as_number('f', true); return type;
    case kString:
      type.kind = Hdf5Type::Kind::kBytes;
      type.padding = (bits & 15) == 2 ? Hdf5Type::Padding::kSpaces : Hdf5Type::Padding::kZeros;
      return type;
    case kOpaque: type.kind = Hdf5Type::Kind::kBytes; return type;
    case kEnumeration:
      // Its numbers; the names follow.
      if (depth == 0) {
        const std::uint64_t size = type.size;
        type = read_type(fields, depth + 1);
        if (type.size != size) fields.refuse("its numbers have another size than it");
      }
      return type;
    case kVarying: {
      if (depth > 0) break;
      const Hdf5Type base = read_type(fields, depth + 1);
      type.other = "lists of an unusual type";
      if (base.kind == Hdf5Type::Kind::kOther) return type;
      // A character is a byte; so is an element of uint8, which h5py has bytes in.
      const bool is_bytes = (bits & 15) == 1 || base.kind == Hdf5Type::Kind::kBytes || base.element == "u1";
      type.kind = Hdf5Type::Kind::kVarying;
      type.element = is_bytes ? "" : base.element;
      type.element_size = base.size;
      type.is_big_endian = base.is_big_endian;
      return type;
    }
    default: break;
  }
  type.other = other_class(type_class);
  return type;
}

void read_chunks(Hdf5File& file, Hdf5Fields& fields, std::uint8_t version, Hdf5Layout& layout) {
  layout.is_chunked = true;
  const std::uint8_t flags = version == 3 ? 0 : fields.u8();
  const std::uint8_t axes = fields.u8();
  if (axes < 2 || axes > kAxesMax + 1) fields.refuse(fmt::format("its chunks have {} axes", axes));
  if (version == 3) layout.address = fields.address(file.address_bytes());
  const std::size_t axis_bytes = version == 3 ? 4 : fields.u8();
  if (axis_bytes < 1 || axis_bytes > 8) fields.refuse("the sizes of its chunks are damaged");
  for (int i = 0; i + 1 < axes; ++i) layout.chunk.push_back(fields.number(axis_bytes));
  fields.skip(axis_bytes);  // the element's, which the type has
  if (std::find(layout.chunk.begin(), layout.chunk.end(), 0u) != layout.chunk.end()) {
    fields.refuse("its chunks are empty");
  }
  if (version == 3) return;
  layout.leaves_last_unfiltered = (flags & 1) != 0;
  const std::uint8_t index = fields.u8();
  layout.index = static_cast<Hdf5ChunkIndex>(index);
  switch (layout.index) {
    case Hdf5ChunkIndex::kSingle:
      layout.is_single_filtered = (flags & 2) != 0;
      if (layout.is_single_filtered) {
        layout.single_bytes = fields.number(file.length_bytes());
        layout.single_mask = fields.u32();
      }
      break;
    case Hdf5ChunkIndex::kImplicit: break;
    case Hdf5ChunkIndex::kFixedArray: fields.skip(1); break;
    case Hdf5ChunkIndex::kExtensibleArray: fields.skip(5); break;
    case Hdf5ChunkIndex::kNewTree: fields.skip(6); break;
    default: fields.refuse(fmt::format("the index of its chunks is of the kind {}", index));
  }
  layout.address = fields.address(file.address_bytes());
}

Hdf5Layout read_layout(Hdf5File& file, const Hdf5Message& message) {
  enum Class : std::uint8_t { kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3 };
  Hdf5Fields fields = fields_of(file, message, "the layout of a dataset");
  Hdf5Layout layout;
  const std::uint8_t version = fields.version(1, 5);
  if (version < 3) {
    layout.unsupported = "was written by a version of HDF5 before 1.6.3";
    return layout;
  }
  const std::uint8_t layout_class = fields.u8();
  if (layout_class == kCompact) {
    layout.bytes = fields.u16();
    layout.address = message.address + (message.bytes - fields.left());
    fields.skip(static_cast<std::size_t>(layout.bytes));
  } else if (layout_class == kContiguous) {
    layout.address = fields.address(file.address_bytes());
    layout.bytes = fields.number(file.length_bytes());
  } else if (layout_class == kChunked) {
    read_chunks(file, fields, version, layout);
  } else if (layout_class == kVirtual) {
    layout.unsupported = "is virtual: its values lie in other datasets";
  } else {
    fields.refuse(fmt::format("its class is {}", layout_class));
  }
  return layout;
}

std::string filter_name(std::uint16_t number) {
  switch (number) {
    case 4: return "szip";
    case 5: return "nbit";
    case 6: return "scale-offset";
    case 32001: return "Blosc";
    case 32004: return "LZ4";
    case 32008: return "bitshuffle";
    case 32015: return "Zstandard";
    case 32026: return "Blosc2";
    default: return fmt::format("number {}", number);
  }
}

std::vector<Hdf5Filter> read_filters(Hdf5File& file, const Hdf5Message& message) {
  constexpr std::uint16_t kFirstWithName = 256;
  Hdf5Fields fields = fields_of(file, message, "the filters of a dataset");
  const std::uint8_t version = fields.version(1, 2);
  const std::uint8_t count = fields.u8();
  if (version == 1) fields.skip(6);
  std::vector<Hdf5Filter> filters;
  for (int i = 0; i < count; ++i) {
    Hdf5Filter& filter = filters.emplace_back();
    filter.number = fields.u16();
    filter.name = filter_name(filter.number);
    const std::size_t name_bytes = version == 1 || filter.number >= kFirstWithName ? fields.u16() : 0;
    fields.skip(2);
    const std::size_t values = fields.u16();
    // In version 1 names end at a multiple of 8, and so do filters.
    fields.skip(version == 1 ? (name_bytes + 7) / 8 * 8 : name_bytes);
    fields.skip(4 * (values + (version == 1 ? values % 2 : 0)));
  }
  return filters;
}

}  // namespace

std::uint64_t Hdf5Dataset::row_elements() const {
  std::uint64_t elements = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    if (shape[axis] == 0 || elements > INT64_MAX / shape[axis]) return 0;
    elements *= shape[axis];
  }
  return elements;
}

bool is_hdf5_array(Hdf5File& file, const Hdf5Object& object) {
  const Hdf5Message* const space = object.find(Hdf5MessageKind::kDataspace);
  return space && object.find(Hdf5MessageKind::kDatatype) && object.find(Hdf5MessageKind::kLayout) &&
         read_space(file, *space).is_array;
}

Hdf5Dataset read_hdf5_dataset(Hdf5File& file, const Hdf5Object& object, std::string name) {
  Hdf5Dataset dataset{.name = std::move(name)};
  Hdf5Space space = read_space(file, *object.find(Hdf5MessageKind::kDataspace));
  dataset.shape = std::move(space.shape);
  dataset.shape_max = std::move(space.shape_max);
  const Hdf5Message& type = *object.find(Hdf5MessageKind::kDatatype);
  if (type.is_shared) {
    dataset.type.other = "a named type";
  } else {
    Hdf5Fields fields = fields_of(file, type, "the type of a dataset");
    dataset.type = read_type(fields);
  }
  dataset.layout = read_layout(file, *object.find(Hdf5MessageKind::kLayout));
  if (object.find(Hdf5MessageKind::kExternalFiles)) dataset.layout.unsupported = "has its values in other files";
  if (const Hdf5Message* filters = object.find(Hdf5MessageKind::kFilters)) {
    dataset.filters = read_filters(file, *filters);
  }
  const bool fits = !dataset.layout.is_chunked || dataset.layout.chunk.size() == dataset.shape.size();
  if (fits) return dataset;
  fail(ErrorKind::kData, "'{}' is damaged: dataset '{}' has {} axes, and its chunks {}", file.name(), dataset.name,
       dataset.shape.size(), dataset.layout.chunk.size());
}

}  // namespace stoker
