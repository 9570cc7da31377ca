// Indexes made by hand, for tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/index/shard_index.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

/// Row `i` of a shard in which sample i has 1000 bytes at 1000 * i, and facts that tell it from the others.
inline SampleRow testing_row(std::int64_t i) {
  SampleRow row;
  row.key = fmt::format("n{:02}/{}", i % 7, i);
  row.label = i % 11 - 1;
  const auto number = static_cast<std::uint64_t>(i);
  row.facts = ImageFacts{.codec = Codec::kJpeg,
                         .width = static_cast<int>(i) + 1,
                         .height = 65535,
                         .components = 3,
                         .bits_per_component = 8,
                         .orientation = static_cast<Orientation>(i % 8 + 1),
                         .coding = JpegCoding::kSequential,
                         .colors = JpegColors::kYcbcr,
                         .chroma_across = 2,
                         .chroma_down = 1};
  row.soundness = i % 5 == 0 ? Soundness::kConcealed : Soundness::kClean;
  row.fields = {
      {.name = "jpg", .part = {}, .offset = 1000 * number, .length = 900, .crc32c = crc32c(as_bytes(row.key))},
      {.name = "cls", .part = {}, .offset = 1000 * number + 900, .length = 100, .crc32c = 7}};
  if (i % 13 == 3) row.facts.reset();
  return row;
}

/// The bytes of an index of `samples` such rows; `tag` stands for the shard's content.
inline std::vector<std::uint8_t> testing_index(std::int64_t samples, std::uint64_t tag = 1) {
  IndexWriter writer;
  for (std::int64_t i = 0; i < samples; ++i) writer.add(testing_row(i));
  return writer.finish({.data_bytes = 1000 * static_cast<std::uint64_t>(samples), .content_tag = tag});
}

/// Opens bytes that should be an index. Throws kData if they are not.
inline std::unique_ptr<ShardIndex> open_testing_index(std::vector<std::uint8_t> bytes,
                                                      std::size_t cache_bytes = 1 << 20) {
  IndexPlace place;
  const bool whole = bytes.size() >= kIndexTrailerBytes;
  if (!whole || read_trailer(Bytes(bytes).last(kIndexTrailerBytes), place.trailer) != TrailerState::kGood ||
      place.trailer.index_bytes != bytes.size()) {
    fail(ErrorKind::kData, "no trailer");
  }
  place.source = std::make_shared<MemorySource>("memory.sidx", std::move(bytes));
  return std::make_unique<ShardIndex>(std::move(place), std::make_shared<IndexCache>(cache_bytes));
}

}  // namespace stoker
