// Parquet files that lie: of their footers, of their pages, and in any bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/format/parquet/parquet_format.h"
#include "stoker/format/parquet/parquet_testing.h"
#include "stoker/format/parquet/thrift_writer.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

/// A file of one column whose footer says what is wanted.
struct LyingFooter {
  std::int64_t rows = 1, group_rows = 1, values = 1, bytes = 30, page = 4, type = 6, codec = 0, children = 1;
  std::int32_t repetition = 0;
  std::size_t groups = 1;
  std::string name = "text";
  std::vector<int> fields = {2, 3, 4};  // the schema, the rows, the row groups: in this order

  std::string text() const {
    std::string footer;
    for (const int number : fields) {
      ThriftWriter field;
      if (number == 2) write_schema(field);
      if (number == 3) field.int64(3, rows);
      if (number == 4) write_groups(field);
      // Its type, then its number, in place of the distance from the number before.
      footer += static_cast<char>(field.bytes().front() & 0xf);
      footer += static_cast<char>(2 * number);
      footer += field.bytes().substr(1);
    }
    return footer + '\0';
  }

 private:
  void write_schema(ThriftWriter& footer) const {
    footer.begin_list(2, ThriftType::kStruct, 2);
    footer.begin_element();
    footer.binary(4, "schema");
    footer.int32(5, static_cast<std::int32_t>(children));
    footer.end_struct();
    footer.begin_element();
    footer.int32(1, 6);
    footer.int32(3, repetition);
    footer.binary(4, name);
    footer.end_struct();
  }

  void write_groups(ThriftWriter& footer) const {
    footer.begin_list(4, ThriftType::kStruct, groups);
    for (std::size_t group = 0; group < groups; ++group) {
      footer.begin_element();
      footer.begin_list(1, ThriftType::kStruct, 1);
      footer.begin_element();
      footer.begin_struct(3);
      footer.int64(1, type);
      footer.int64(4, codec);
      footer.int64(5, values);
      footer.int64(7, bytes);
      footer.int64(9, page);
      footer.end_struct();
      footer.end_struct();
      footer.int64(3, group_rows);
      footer.end_struct();
    }
  }
};

std::string lie(const LyingFooter& footer, const std::string& pages = std::string(30, 'p')) {
  return parquet_refusal(parquet_around(pages, footer.text()));
}

TEST(ParquetDamage, InFootersIsRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_THAT(lie({.rows = 2}), HasSubstr("as many rows as it says"));
  EXPECT_THAT(lie({.rows = kHuge, .group_rows = kHuge, .values = kHuge}), HasSubstr("more rows than that"));
  EXPECT_THAT(lie({.rows = -1, .group_rows = -1, .values = -1}), HasSubstr("below 0"));
  EXPECT_THAT(lie({.values = 2}), HasSubstr("2 values for 1 row"));
  EXPECT_THAT(lie({.bytes = kHuge}), HasSubstr("inside the file"));
  EXPECT_THAT(lie({.bytes = 31}), HasSubstr("inside the file"));
  EXPECT_THAT(lie({.page = 0}), HasSubstr("inside the file"));
  EXPECT_THAT(lie({.page = kHuge}), HasSubstr("inside the file"));
  EXPECT_THAT(lie({.type = 1}), HasSubstr("another type"));
  EXPECT_THAT(lie({.codec = 8}), HasSubstr("codec 8"));
  EXPECT_THAT(lie({.children = 2}), HasSubstr("fewer elements"));
  EXPECT_THAT(lie({.children = 0}), HasSubstr("more elements"));
  EXPECT_THAT(parquet_refusal(parquet_around("", std::string(70, '\x1c'))), HasSubstr("nested"));
  std::string file = parquet_around(std::string(30, 'p'), LyingFooter().text());
  file[file.size() - 5] = '\x7f';
  EXPECT_THAT(parquet_refusal(file), HasSubstr("says that its footer has"));
}

TEST(ParquetDamage, InTheOrderOfAFooterIsRefused) {
  EXPECT_THAT(lie({.fields = {4, 2, 3}}), HasSubstr("its row groups come before its schema"));
  EXPECT_THAT(lie({.fields = {2, 4, 2, 3}}), HasSubstr("it has two schemas"));
  EXPECT_THAT(lie({.fields = {2, 3}}), HasSubstr("as many rows as it says"));
  EXPECT_THAT(lie({.fields = {3, 2, 4}}), HasSubstr("not complete")) << "of the page: the footer is sound";
}

TEST(ParquetDamage, InNamesWithoutEndIsRefused) {
  EXPECT_THAT(lie({.name = std::string(1 << 20, 'n')}), HasSubstr("has 1048576 bytes; the limit is 4096"));
  // What names a column is what it lies in, too.
  const std::string step(2000, 's');
  EXPECT_THAT(parquet_refusal(parquet_file({{.path = step + '.' + step + '.' + step, .rows = {{"x"}}}})),
              HasSubstr("the limit is 4096"));
}

TEST(ParquetDamage, OfListsIsCountedInAllRowGroups) {
  LyingFooter lists{.rows = 2, .values = 5000, .bytes = 15, .repetition = 2, .groups = 2};
  const std::string pages(30, 'p');
  // Six tenths of what a file of this size may have.
  lists.values = static_cast<std::int64_t>(64 * parquet_around(pages, lists.text()).size() * 6 / 10);
  EXPECT_THAT(lie(lists, pages), HasSubstr("of row group 1: with it the lists have"));
  lists.values = lists.values * 8 / 10;
  EXPECT_THAT(lie(lists, pages), HasSubstr("not complete")) << "of the page: the footer is sound";
}

/// Pages of a column "text" in front of a footer that fits them.
std::string lie_of_page(const std::function<void(ThriftWriter&)>& header, const std::string& body,
                        ParquetCodec codec = ParquetCodec::kUncompressed) {
  ThriftWriter writer;
  header(writer);
  writer.end_struct();
  const std::string pages = writer.bytes() + body;
  return lie({.bytes = static_cast<std::int64_t>(pages.size()), .codec = static_cast<std::int64_t>(codec)}, pages);
}

std::function<void(ThriftWriter&)> page_header(std::int32_t length, std::int32_t stored, std::int32_t values,
                                               std::int32_t encoding = 0) {
  return [=](ThriftWriter& header) {
    header.int32(1, 0);
    header.int32(2, length);
    header.int32(3, stored);
    header.begin_struct(5);
    header.int32(1, values);
    header.int32(2, encoding);
    header.int32(3, 3);
    header.int32(4, 3);
    header.end_struct();
  };
}

TEST(ParquetDamage, InPagesIsRefused) {
  using namespace std::string_literals;
  const std::string value = "\1\0\0\0x"s;
  EXPECT_THAT(lie_of_page(page_header(5, 5, 2), value), HasSubstr("are left of its column"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, -1), value), HasSubstr("below 0"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 0), value), HasSubstr("there is none"));
  EXPECT_THAT(lie_of_page(page_header(5, 6, 1), value), HasSubstr("are left of its column chunk"));
  EXPECT_THAT(lie_of_page(page_header(6, 5, 1), value), HasSubstr("not compressed"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 1), "\2\0\0\0x"s), HasSubstr("ends before"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 1), "\xff\xff\xff\xffx"s), HasSubstr("ends before"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 1, 8), value), HasSubstr("its column has none"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 1, 10), value), HasSubstr("number 10"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 1, 5), value), HasSubstr("DELTA_BINARY_PACKED"));
  EXPECT_THAT(lie_of_page([](ThriftWriter& header) { header.int32(1, 0); }, value), HasSubstr("not complete"));
  EXPECT_THAT(lie_of_page(page_header(0x7fffffff, 5, 1), value), HasSubstr("up to"));
  for (const ParquetCodec codec :
       {ParquetCodec::kSnappy, ParquetCodec::kGzip, ParquetCodec::kZstd, ParquetCodec::kLz4}) {
    EXPECT_THAT(lie_of_page(page_header(1 << 30, 5, 1), value, codec), HasSubstr("cannot become"));
    EXPECT_THAT(lie_of_page(page_header(5, 5, 1), value, codec), HasSubstr("are damaged"));
    EXPECT_THAT(lie_of_page(page_header(5, 0, 1), "", codec), HasSubstr("has no values"));
  }
}

TEST(ParquetDamage, LocatesNothingOutsideOfTheFileWhateverItSays) {
  std::vector<ParquetTestColumn> columns = some_parquet_columns();
  columns[2].encoding = columns[4].encoding = ParquetEncoding::kDictionary;
  columns[3].encoding = ParquetEncoding::kDelta;
  columns.push_back({.path = "texts.list.element", .rows = {{"a", "b"}, {}, {"c"}}});
  columns.push_back({.path = "ids.list.element",
                     .type = ParquetType::kInt32,
                     .encoding = ParquetEncoding::kDictionary,
                     .rows = {{plain_int32(1), plain_int32(2)}, {}, {plain_int32(1)}}});
  for (const bool version_2 : {false, true}) {
    std::string file = parquet_file(columns, {.version_2 = version_2, .has_checksums = false});
    for (std::size_t at = 4; at < file.size(); ++at) {
      const char kept = file[at];
      for (int bit = 0; bit < 8; ++bit) {
        file[at] = static_cast<char>(kept ^ (1 << bit));
        MemorySource source = parquet_source(file);
        const auto fault = fault_of_data([&] {
          ParquetSamples samples(source, {}, std::uint64_t{1} << 20);
          for (SampleRow row; samples.next(row);) {
            for (const SampleField& field : row.fields) {
              EXPECT_GE(field.offset, 4u);
              if (field.offset + field.length <= file.size() - 8) continue;
              // Among what packed values become.
              ASSERT_LE(field.length, 1000u);
              std::vector<std::uint8_t> bytes(field.length);
              const auto damage = fault_of_data([&] { read_fully(*row.source, field.offset, bytes); });
              EXPECT_THAT(damage.value_or("the block at byte"), HasSubstr("the block at byte"));
            }
          }
        });
        EXPECT_THAT(fault.value_or("'data/train-00000-of-00002.parquet'"),
                    HasSubstr("'data/train-00000-of-00002.parquet'"));
      }
      file[at] = kept;
    }
  }
}

}  // namespace
}  // namespace stoker
