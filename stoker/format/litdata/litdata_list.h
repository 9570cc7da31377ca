// The index.json of a folder of LitData chunks: which chunks there are, in their order, and what the samples of all of
// them hold. A chunk's own bytes do not say that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/storage/stores.h"

namespace stoker {

enum class LitDataKind : std::uint8_t {
  kBytes,  // as they are; also what a serializer wrote that is not known
  kText,
  kInteger,  // 8 bytes, little-endian
  kTruth,    // a byte
  kFloat,    // 8 bytes
  kNumbers,  // an array of one axis, without a header
  kNumpy,    // an array after its type and shape
  kTensor,   // the same of PyTorch
  kImage,    // an encoded image
  kImages,   // several: their number and sizes, u32 each, before them
  kPixels,   // as PIL has them: width, height and length of the mode (u32 each), the mode, the pixels
  kNested,   // lists and dictionaries, with a tag before each
  kPickle,   // never looked at: reading one can run any code
};

/// A value of each sample.
struct LitDataLeaf {
  std::string name;        // where it is in the sample, with dots: "meta.size"; "0" in a list without names
  std::string serializer;  // as written: "no_header_numpy:3"
  LitDataKind kind = LitDataKind::kBytes;
  std::string_view type{};  // of kNumbers: "i64", "f32"; empty for one that is not known
  std::string extension{};  // of an image or a file, if its serializer says it
};

struct LitDataList {
  struct Chunk {
    std::string file;  // relative to the folder
    std::uint64_t samples = 0;
  };

  std::vector<Chunk> chunks{};
  std::vector<LitDataLeaf> leaves{};
  bool has_sizes = true;        // of its leaves before those of each sample; else a sample is its one leaf
  bool is_zstd_by_one = false;  // each sample is compressed by itself
  std::string refusal{};        // why its chunks cannot be read as LitData's own: empty if they can

  /// The chunk whose path ends with this name; null if none does.
  const Chunk* find(std::string_view name) const;
};

inline constexpr std::string_view kLitDataListName = "index.json";
inline constexpr std::size_t kLitDataLeavesMax = 4096;

/// Nothing for a text that is not such a list. Throws kData, as a clause, for one that is damaged, and as check_name()
/// does.
std::optional<LitDataList> parse_litdata_list(Bytes json);

/// The folder's list; nothing without one. Throws kData naming the file if it is damaged, and what reading throws.
std::optional<LitDataList> read_litdata_list(const Stores& stores, const Location& folder);

/// The chunks that the folder's list names. Throws also kNotFound for a chunk that is not there.
std::vector<Location> listed_litdata_chunks(const Stores& stores, const Location& folder);

/// The type of an array's elements by the number that stands before it: "f32". Empty for no such number.
std::string_view litdata_numpy_type(std::uint32_t number);
std::string_view litdata_torch_type(std::uint32_t number);

}  // namespace stoker
