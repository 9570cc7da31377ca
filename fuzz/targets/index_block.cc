// A block of an index, whatever its bytes: eleven bytes say what is known of it from elsewhere, and the block follows.
#include <fmt/format.h>

#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/index/index_block.h"

namespace stoker {
namespace {

constexpr std::size_t kHeadBytes = 11;

void check_row(const SampleRow& row, const IndexLimits& limits) {
  require_that(row.label >= -1, "a label is a number, or unknown");
  if (row.facts) {
    require_that(row.facts->width >= 1 && row.facts->height >= 1, "an image has pixels");
    require_that(row.facts->components >= 1 && row.facts->chroma_across >= 1 && row.facts->chroma_down >= 1,
                 "an image has components");
    require_that(row.facts->orientation >= 1 && row.facts->orientation <= 8, "an orientation is one of eight");
  }
  for (const SampleField& field : row.fields) {
    require_that(field.offset <= limits.data_bytes && field.length <= limits.data_bytes - field.offset,
                 "a field lies inside its shard");
    require_that(
        field.first_chunk <= row.chunk_crcs.size() && field.chunks <= row.chunk_crcs.size() - field.first_chunk,
        "a field's checksums are there");
    require_that(field.crc32c.has_value() == limits.has_checksums, "checksums are there for all fields or none");
  }
}

/// The block that holds the same rows.
std::vector<std::uint8_t> written_anew(const IndexBlock& block, const std::vector<std::string>& names,
                                       const IndexLimits& limits) {
  IndexBlockBuilder builder;
  SampleRow row;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    block.read(i, names, row);
    check_row(row, limits);
    std::vector<std::uint16_t> numbers;
    for (const SampleField& field : row.fields) {
      for (std::size_t number = 0; number < names.size(); ++number) {
        if (field.name == names[number]) numbers.push_back(static_cast<std::uint16_t>(number));
      }
    }
    builder.add(row, numbers);
  }
  std::vector<std::uint8_t> bytes;
  builder.take(bytes);
  return bytes;
}

void run(Bytes input) {
  if (input.size() < kHeadBytes) return;
  const std::int64_t rows = input[0] + 1;
  std::vector<std::string> names;
  for (int i = 0; i < input[1]; ++i) names.push_back(fmt::format("field{}", i));
  const IndexLimits limits{.names = names.size(),
                           .data_bytes = load_little_endian<std::uint64_t>(input.data() + 3),
                           .has_checksums = (input[2] & 1) != 0};
  IndexBlock block;
  if (!accepts({ErrorKind::kData}, [&] { block = IndexBlock(input.subspan(kHeadBytes), rows, limits); })) return;
  require_that(block.rows() == rows, "a block has as many rows as were asked for");
  // What was read and written is read again as the same.
  const std::vector<std::uint8_t> once = written_anew(block, names, limits);
  const IndexBlock again(once, rows, limits);
  require_that(written_anew(again, names, limits) == once, "a block that was written is read as it was");
}

const AnnounceFuzzTarget kTarget({.name = "index_block", .run = run});

}  // namespace
}  // namespace stoker
