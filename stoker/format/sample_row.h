// What is known about one sample before its fields are read: one row of a data set. Threads: a value; many may read it,
// one may change it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

class Source;

/// One field. What its views show lives as long as the data set.
struct SampleField {
  std::string_view name;  // in lower case: "jpg", "cls"
  std::string_view part;  // the part to read within the source: a folder's file; empty for a shard
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::optional<std::uint32_t> crc32c{};  // of all its bytes, where an index knows it
  std::optional<std::uint32_t> crc32{};   // the same, where the shard itself has it, as a zip does
  // The checksums of its chunks of kChunkBytes, in SampleRow::chunk_crcs; none for images and small fields.
  std::uint32_t first_chunk = 0, chunks = 0;

  /// Those of another field with the same bytes, in the same row.
  void take_checksums_of(const SampleField& same) {
    crc32c = same.crc32c;
    crc32 = same.crc32;
    first_chunk = same.first_chunk;
    chunks = same.chunks;
  }
};

/// What decoding an image told, as far as that was done.
enum class Soundness : std::uint8_t {
  kUnknown = 0,
  kClean = 1,      // decoded without complaint
  kConcealed = 2,  // faults in its entropy-coded data were concealed
  kBad = 3,        // no picture, by the rule of "Bad samples" in ARCHITECTURE.md
};

/// Used again and again, so that reading a row into it allocates nothing in the steady state.
struct SampleRow {
  std::string key;
  std::int64_t label = -1;  // -1: unknown
  bool relabelled = false;  // the label is not that of its field "cls"
  // Its field "cls" says that the class is unknown, by a number below 0: known once that field was read.
  bool says_unknown = false;
  // The field that the user chose as its image; empty without a choice. What it shows lives as long as the data set.
  std::string_view image_name{};
  std::vector<SampleField> fields;
  std::optional<ImageFacts> facts;  // of its image
  Soundness soundness = Soundness::kUnknown;
  std::vector<std::uint32_t> chunk_crcs;  // of all fields
  Source* source = nullptr;               // where its fields lie; lives as long as the data set
  // Where decoding its image may begin, kept in an index: bytes for ImageDecoder::decode_planes, which carry their own
  // checksum. Length 0: unknown.
  SampleField entry_points{};
  Source* entry_points_source = nullptr;  // the same for the entry points

  void clear();
  /// Null when the sample has no such field.
  const SampleField* field(std::string_view name) const;
  /// The field that holds the sample's image. With a choice, the field of that name, else "NAME.png" or the like.
  /// Without, the first that is named as an image (jpg, jpeg, png, webp, bmp and so
  /// on), else the first whose last extension is ("mask.png"), else raw pixels ("npy"). Null without one.
  const SampleField* image_field() const;
  /// field(), where "image" stands for image_field().
  const SampleField* find(std::string_view name) const { return name == "image" ? image_field() : field(name); }
  /// Makes another field its image, unless it is its image already: what is known of the other's bytes is forgotten.
  void choose_image(std::string_view name);
  /// Bytes of all fields; kBytesMax stands for more, too, so that neither this nor the sum of two of them wraps.
  std::uint64_t bytes() const;
  static constexpr std::uint64_t kBytesMax = std::numeric_limits<std::int64_t>::max();
};

/// Why the bytes are not the field's, as its shard's own checksum says; empty if it has none, or they are.
std::string contradiction_of_shard(const SampleField& field, Bytes bytes);
/// Throws kBadSample if a checksum is known and the bytes have another.
void check_field(const SampleField& field, Bytes bytes);

/// Reads a field and checks it; `into` has its length. Throws what reading throws, and kBadSample.
void read_checked(const SampleRow& row, const SampleField& field, MutableBytes into);

/// Parts of fields that are stored raw can be read and checked by themselves, in chunks of this many bytes.
inline constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 10;

/// Whether the checksums of a field's chunks are kept: not those of encoded images, which are read as a whole.
bool has_chunk_crcs(std::string_view field, std::uint64_t length);

}  // namespace stoker
