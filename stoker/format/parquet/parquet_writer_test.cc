#include "stoker/format/parquet/parquet_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/hash.h"
#include "stoker/format/huggingface_features.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/stores.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Values = std::vector<std::optional<std::string>>;

/// Eleven rows: every third without a label, every fourth without a note, one without anything else.
std::vector<Values> some_rows() {
  std::vector<Values> rows;
  for (int i = 0; i < 11; ++i) {
    std::string label(8, '\0');
    label[0] = static_cast<char>(i);
    rows.push_back({fmt::format("image {}", std::string(static_cast<std::size_t>(i), 'x')),
                    i == 5 ? std::optional(fmt::format("folder/{}.jpg", i)) : std::nullopt,
                    i % 3 == 0 ? std::nullopt : std::optional(label), fmt::format("key {}", i),
                    i % 4 == 0 ? std::nullopt : std::optional<std::string>("")});
  }
  rows[7] = {std::nullopt, std::nullopt, std::nullopt, "key 7", std::nullopt};
  return rows;
}

std::vector<ParquetLeaf> some_leaves() {
  return {{.group = "image", .name = "bytes"},
          {.group = "image", .name = "path", .is_text = true},
          {.name = "label", .type = ParquetType::kInt64},
          {.name = "__key__", .is_text = true},
          {.name = "note"}};
}

struct Written {
  std::string file;
  std::vector<std::uint64_t> offsets;  // by row and leaf
};

class ParquetWriterOf : public ::testing::TestWithParam<ParquetWriterLimits> {
 protected:
  Written write(const std::vector<Values>& rows) {
    ParquetWriter writer(std::make_unique<AtomicFile>(folder_.path("x.parquet")), some_leaves(), "{}", GetParam());
    Written written;
    std::size_t group_rows = 0;
    const auto note_places = [&] {
      for (std::size_t row = 0; row < group_rows; ++row) {
        for (std::size_t leaf = 0; leaf < writer.leaves().size(); ++leaf) {
          written.offsets.push_back(writer.offset_of(row, leaf));
        }
      }
      group_rows = 0;
    };
    for (const Values& row : rows) {
      std::vector<std::optional<Bytes>> values;
      std::uint64_t bytes = 0;
      for (const auto& value : row) {
        values.push_back(value ? std::optional(as_bytes(*value)) : std::nullopt);
        bytes += value ? 4 + value->size() : 0;
      }
      promised_ = writer.bytes() + bytes;
      ++group_rows;
      if (writer.add(values)) note_places();
    }
    writer.end_group();
    note_places();
    const ParquetWriter::Finished made = writer.finish();
    written.file = read_file(folder_.path("x.parquet"));
    EXPECT_EQ(made.bytes, written.file.size());
    EXPECT_EQ(made.hash, hash64(as_bytes(written.file)));
    return written;
  }

  TempFolder folder_;
  std::uint64_t promised_ = 0;  // the bytes that the file was to have at most after the last row
};

TEST_P(ParquetWriterOf, SaysWhereValuesLie) {
  const std::vector<Values> rows = some_rows();
  const Written written = write(rows);
  ASSERT_EQ(written.offsets.size(), rows.size() * 5);
  for (std::size_t i = 0; i < written.offsets.size(); ++i) {
    const auto& value = rows[i / 5][i % 5];
    if (value) {
      EXPECT_EQ(written.file.substr(written.offsets[i], value->size()), *value) << i;
    }
  }
}

TEST_P(ParquetWriterOf, WritesWhatIsReadBack) {
  const std::vector<Values> rows = some_rows();
  const Written written = write(rows);
  const std::shared_ptr<Source> file = Stores().open(folder_.path("x.parquet"));
  ParquetSamples samples(*file);
  SampleRow row;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(samples.next(row));
    EXPECT_EQ(row.key, *rows[i][3]);
    EXPECT_EQ(row.label, rows[i][2] ? static_cast<std::int64_t>(i) : -1);
    const std::vector<std::pair<std::string_view, std::size_t>> fields = {{"image", 0}, {"image.path", 1}, {"note", 4}};
    for (const auto& [name, leaf] : fields) {
      const SampleField* const field = row.field(name);
      ASSERT_EQ(field != nullptr, rows[i][leaf].has_value()) << i << name;
      if (!field) continue;
      EXPECT_EQ(field->offset, written.offsets[5 * i + leaf]);
      EXPECT_EQ(field->length, rows[i][leaf]->size());
    }
  }
  EXPECT_FALSE(samples.next(row));
  EXPECT_THAT(samples.take_notes().problems, IsEmpty());
}

TEST_P(ParquetWriterOf, KnowsTheSizeBeforehand) {
  const Written written = write(some_rows());
  EXPECT_GE(promised_, written.file.size());
  EXPECT_LT(promised_, written.file.size() + 2500);
}

TEST_P(ParquetWriterOf, KeepsToItsRowGroups) {
  write(some_rows());
  const std::shared_ptr<Source> file = Stores().open(folder_.path("x.parquet"));
  const ParquetFooter footer = read_parquet_footer(*file);
  for (const ParquetRowGroup& group : footer.groups) {
    EXPECT_LE(group.rows, GetParam().rows);
  }
  EXPECT_EQ(footer.groups.size() > 1, GetParam().rows < 11 || GetParam().group_bytes < 1000);
}

INSTANTIATE_TEST_SUITE_P(Limits, ParquetWriterOf,
                         ::testing::Values(ParquetWriterLimits(), ParquetWriterLimits{.rows = 3},
                                           ParquetWriterLimits{.rows = 11}, ParquetWriterLimits{.group_bytes = 400},
                                           ParquetWriterLimits{.page_bytes = 1},
                                           ParquetWriterLimits{.rows = 4, .page_bytes = 20}));

TEST(ParquetWriter, WritesAFileWithoutRows) {
  TempFolder folder;
  ParquetWriter writer(std::make_unique<AtomicFile>(folder.path("x.parquet")), some_leaves(), "{}");
  writer.finish();
  const std::shared_ptr<Source> file = Stores().open(folder.path("x.parquet"));
  ParquetSamples samples(*file);
  SampleRow row;
  EXPECT_FALSE(samples.next(row));
}

TEST(HuggingfaceText, IsReadBack) {
  using Kind = HuggingfaceFeature::Kind;
  const std::vector<HuggingfaceFeature> features = {
      {"image", Kind::kImage}, {"label", Kind::kClass}, {"x/y~", Kind::kText}};
  EXPECT_THAT(class_names_of(huggingface_text(features, {"cat", "dog \"2\""})),
              ElementsAre(std::pair("label", std::vector<std::string>{"cat", "dog \"2\""})));
  for (const std::vector<std::string>& unusable :
       std::vector<std::vector<std::string>>{{}, {"cat", "cat"}, {"cat", "\xff"}}) {
    EXPECT_THAT(class_names_of(huggingface_text(features, unusable)), IsEmpty());
  }
  EXPECT_EQ(huggingface_text({{"image", Kind::kImage}, {"mask", Kind::kBytes}}, {}),
            R"({"info":{"features":{"image":{"_type":"Image"},"mask":{"dtype":"binary","_type":"Value"}}}})");
}

}  // namespace
}  // namespace stoker
