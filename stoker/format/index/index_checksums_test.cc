// Which checksums an index has: its own, or those that the shard had.
#include <gtest/gtest.h>

#include "stoker/format/index/index_testing.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/index/shard_index.h"

namespace stoker {
namespace {

TEST(IndexChecksums, KnowsChecksumsAndSoundnessOnlyIfItKnowsThemOfEverySample) {
  for (std::size_t unknown = 0; unknown < 3; ++unknown) {
    IndexWriter unchecked, undecoded;
    for (std::size_t i = 0; i < 3; ++i) {
      SampleRow row = testing_row(static_cast<std::int64_t>(i));
      if (i == unknown) row.fields[0].crc32c.reset();
      unchecked.add(row);
      row = testing_row(static_cast<std::int64_t>(i));
      if (i == unknown) row.soundness = Soundness::kUnknown;
      undecoded.add(row);
    }
    EXPECT_FALSE(open_testing_index(unchecked.finish({.data_bytes = 3000}))->trailer().has_checksums) << unknown;
    EXPECT_FALSE(open_testing_index(undecoded.finish({.data_bytes = 3000}))->trailer().was_decoded) << unknown;
  }
}

TEST(IndexChecksums, KeepsTheChecksumsOfTheShardUntilItHasOthers) {
  for (const bool has_own : {false, true}) {
    IndexWriter writer;
    for (const std::int64_t i : {0, 1}) {
      SampleRow row = testing_row(i);
      for (SampleField& field : row.fields) {
        field.crc32 = 77 + static_cast<std::uint32_t>(i);
        if (!has_own) field.crc32c.reset();
      }
      writer.add(row);
    }
    const auto index = open_testing_index(writer.finish({.data_bytes = 2000}));
    EXPECT_EQ(index->trailer().has_crc32, !has_own);
    SampleRow row;
    index->read(1, row);
    EXPECT_EQ(row.fields[1].crc32, has_own ? std::nullopt : std::optional(78U));
    EXPECT_EQ(row.fields[1].crc32c, has_own ? std::optional(7U) : std::nullopt);
  }
}

}  // namespace
}  // namespace stoker
