#include "stoker/format/parquet/parquet_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/parquet/parquet_testing.h"
#include "stoker/format/parquet/thrift_writer.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kParquetJpeg =
                      "\xff\xd8\xff"
                      "photograph",
                  kParquetPng =
                      "\x89PNG\r\n\x1a\n"
                      "drawing";

MemorySource parquet_source(std::string_view bytes) {
  return MemorySource("data/train-00000-of-00002.parquet", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

/// "key label field=content ..." of each sample.
std::vector<std::string> parquet_listing(std::string_view bytes, ShardNotes* notes = nullptr) {
  MemorySource source = parquet_source(bytes);
  ParquetSamples samples(source);
  std::vector<std::string> lines;
  for (SampleRow row; samples.next(row);) {
    lines.push_back(fmt::format("{} {}", row.key, row.label));
    for (const SampleField& field : row.fields) {
      std::string content(field.length, '?');
      read_fully(*row.source, field.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      lines.back() += fmt::format(" {}={}", field.name, content);
    }
  }
  ShardNotes taken = samples.take_notes();
  if (notes) *notes = std::move(taken);
  return lines;
}

std::string parquet_refusal(std::string_view bytes) {
  const Error error = error_of([&] { parquet_listing(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'data/train-00000-of-00002.parquet'"));
  return error.message();
}

/// Three samples, one with a null.
std::vector<ParquetTestColumn> some_columns() {
  return parquet_columns_of({{.key = "a/1", .label = 3, .image = kParquetJpeg, .note = "one"},
                             {.key = "b/2", .label = -1, .image = kParquetPng},
                             {.key = "c/3", .label = 0, .image = kParquetJpeg + "!", .note = ""}});
}

const std::vector<std::string> kSomeRows = {"a/1 3 jpg=" + kParquetJpeg + " note=one", "b/2 -1 png=" + kParquetPng,
                                            "c/3 0 jpg=" + kParquetJpeg + "! note="};

TEST(ParquetFormat, ReadsWhatDatasetsWrites) {
  EXPECT_EQ(parquet_listing(parquet_file(some_columns())), kSomeRows);
  EXPECT_EQ(parquet_listing(parquet_file(some_columns(), {.version_2 = true, .has_checksums = false})), kSomeRows);
}

TEST(ParquetFormat, ReadsEveryEncodingGroupAndPage) {
  std::vector<ParquetTestSample> samples;
  for (int i = 0; i < 100; ++i) {
    samples.push_back({.key = fmt::format("k{}", i),
                       .label = i / 20,
                       .image = kParquetJpeg + std::string(static_cast<std::size_t>(i % 7), 'x')});
    if (i % 3 > 0) samples.back().note = fmt::format("note {}", i % 5);
  }
  std::vector<ParquetTestColumn> columns = parquet_columns_of(samples);
  const std::vector<std::string> expected = parquet_listing(parquet_file(columns));
  ASSERT_EQ(expected.size(), 100u);
  ASSERT_EQ(expected[99], "k99 4 jpg=" + kParquetJpeg + "x");
  for (const ParquetEncoding encoding : {ParquetEncoding::kPlain, ParquetEncoding::kDictionary,
                                         ParquetEncoding::kPlainDictionary, ParquetEncoding::kDeltaLengths}) {
    for (ParquetTestColumn& column : columns) {
      column.encoding = column.type == ParquetType::kInt64 && encoding == ParquetEncoding::kDeltaLengths
                            ? ParquetEncoding::kDelta
                            : encoding;
    }
    for (const bool version_2 : {false, true}) {
      for (const std::size_t per_group : {7, 64, 1000}) {
        for (const std::size_t per_page : {1, 5, 1000}) {
          ParquetTestOptions options{.version_2 = version_2, .rows_per_group = per_group, .rows_per_page = per_page};
          EXPECT_EQ(parquet_listing(parquet_file(columns, options)), expected)
              << parquet_encoding_name(encoding) << ' ' << version_2 << ' ' << per_group << ' ' << per_page;
        }
      }
    }
  }
}

/// Thirty samples whose values compress well.
std::vector<ParquetTestColumn> columns_to_compress(ParquetEncoding encoding) {
  std::vector<ParquetTestSample> samples;
  for (int i = 0; i < 30; ++i) {
    samples.push_back({.key = fmt::format("k{}", i),
                       .label = i % 3,
                       .image = kParquetJpeg + std::string(static_cast<std::size_t>(200 + i % 4), 'x')});
    if (i % 3 > 0) samples.back().note = fmt::format("note {} ", i % 5) + std::string(100, 'y');
  }
  std::vector<ParquetTestColumn> columns = parquet_columns_of(samples);
  for (ParquetTestColumn& column : columns) column.encoding = encoding;
  return columns;
}

TEST(ParquetFormat, ReadsTheValuesOfCompressedPages) {
  for (const ParquetEncoding encoding : {ParquetEncoding::kPlain, ParquetEncoding::kDictionary}) {
    const std::vector<ParquetTestColumn> columns = columns_to_compress(encoding);
    for (const bool version_2 : {false, true}) {
      for (const std::size_t per_page : {7, 1000}) {
        ParquetTestOptions options{.version_2 = version_2, .rows_per_group = 16, .rows_per_page = per_page};
        const std::string stored = parquet_file(columns, options);
        const std::vector<std::string> expected = parquet_listing(stored);
        ASSERT_EQ(expected.size(), 30u);
        ASSERT_EQ(expected[29],
                  "k29 2 jpg=" + kParquetJpeg + std::string(201, 'x') + " note=note 4 " + std::string(100, 'y'));
        for (const ParquetCodec codec :
             {ParquetCodec::kSnappy, ParquetCodec::kGzip, ParquetCodec::kZstd, ParquetCodec::kLz4}) {
          options.codec = codec;
          const std::string compressed = parquet_file(columns, options);
          EXPECT_LT(compressed.size(), stored.size()) << "nothing was compressed";
          ShardNotes notes;
          EXPECT_EQ(parquet_listing(compressed, &notes), expected)
              << static_cast<int>(codec) << ' ' << parquet_encoding_name(encoding) << ' ' << version_2 << ' '
              << per_page;
          EXPECT_TRUE(notes.blocks) << "values of compressed pages lie in blocks";
        }
      }
    }
  }
}

TEST(ParquetFormat, NumbersSamplesThatHaveNoKey) {
  const std::string file =
      parquet_file({{.path = "img", .rows = {{kParquetPng}, {kParquetJpeg}}}}, {.rows_per_group = 1});
  EXPECT_THAT(parquet_listing(file), ElementsAre("train-00000-of-00002/00000000 -1 png=" + kParquetPng,
                                                 "train-00000-of-00002/00000001 -1 jpg=" + kParquetJpeg));
}

TEST(ParquetFormat, NamesFieldsAsTarsDo) {
  const std::string file = parquet_file({
      {.path = "Image.bytes", .rows = {{kParquetJpeg}}},
      {.path = "Image.path", .rows = {{"n01/x.JPEG"}}},
      {.path = "mask.bytes", .rows = {{kParquetPng}}},
      {.path = "mask.path", .is_optional = true, .rows = {{std::nullopt}}},
      {.path = "meta.Width", .type = ParquetType::kInt32, .rows = {{plain_int32(640)}}},
      {.path = "score", .type = ParquetType::kFloat, .rows = {{plain_float(1.0F)}}},
      {.path = "hash", .type = ParquetType::kFixedBytes, .rows = {{"0123456789abcdef"}}},
      {.path = "file_name", .rows = {{"n01/n01_7.JPEG"}}},
      {.path = "cls", .rows = {{" 12\n"}}},
  });
  EXPECT_THAT(parquet_listing(file),
              ElementsAre("n01/n01_7 12 cls= 12\n file_name=n01/n01_7.JPEG hash=0123456789abcdef image.path=n01/x.JPEG "
                          "jpg=" +
                          kParquetJpeg + " mask.png=" + kParquetPng + " meta.width.i32=" + plain_int32(640) +
                          " score.f32=" + plain_float(1.0F)));
}

TEST(ParquetFormat, FindsTheOnlyImageWhateverItIsCalled) {
  EXPECT_THAT(parquet_listing(parquet_file({{.path = "strange", .rows = {{kParquetJpeg}}}})),
              ElementsAre("train-00000-of-00002/00000000 -1 jpg=" + kParquetJpeg));
  EXPECT_THAT(parquet_listing(parquet_file({{.path = "left", .rows = {{kParquetJpeg}}},  //
                                            {.path = "right", .rows = {{kParquetJpeg}}}})),
              ElementsAre("train-00000-of-00002/00000000 -1 left.jpg=" + kParquetJpeg + " right.jpg=" + kParquetJpeg));
  EXPECT_THAT(parquet_listing(parquet_file({{.path = "png", .rows = {{kParquetJpeg}}},  //
                                            {.path = "image", .rows = {{kParquetJpeg}}}})),
              ElementsAre("train-00000-of-00002/00000000 -1 image.jpg=" + kParquetJpeg + " png=" + kParquetJpeg));
}

TEST(ParquetFormat, LocatesListsAndNumbersOfRowsThatCrossPages) {
  const std::vector<ParquetTestColumn> columns = {
      {.path = "images.list.element.bytes",
       .is_optional = true,
       .rows = {{kParquetJpeg, std::nullopt, kParquetPng}, {}, {kParquetPng}}},
      {.path = "captions.list.element", .encoding = ParquetEncoding::kDictionary, .rows = {{"a"}, {"b", "a"}, {}}},
      {.path = "box.list.element",
       .type = ParquetType::kInt32,
       .rows = {{plain_int32(1), plain_int32(2)}, {}, {plain_int32(3)}}},
      {.path = "label", .type = ParquetType::kInt32, .rows = {{plain_int32(7)}, {plain_int32(8)}, {plain_int32(9)}}}};
  for (const std::size_t per_page : {1, 2, 1000}) {
    for (const bool version_2 : {false, true}) {
      EXPECT_THAT(
          parquet_listing(parquet_file(columns, {.version_2 = version_2, .rows_per_page = per_page})),
          ElementsAre(
              "train-00000-of-00002/00000000 7 box.i32=" + plain_int32(1) + plain_int32(2) +
                  " captions.0=a images.bytes.0.jpg=" + kParquetJpeg + " images.bytes.2.png=" + kParquetPng,
              "train-00000-of-00002/00000001 8 captions.0=b captions.1=a",
              "train-00000-of-00002/00000002 9 box.i32=" + plain_int32(3) + " images.bytes.0.png=" + kParquetPng));
    }
  }
}

// As Hugging Face's tokenised sets have them: pyarrow names numbers by default.
TEST(ParquetFormat, UnpacksNumbersOfEveryEncoding) {
  ParquetTestColumn tokens{.path = "input_ids.list.element", .type = ParquetType::kInt64};
  ParquetTestColumn scale{.path = "scale", .type = ParquetType::kDouble, .is_optional = true};
  std::vector<std::string> expected;
  for (int row = 0; row < 40; ++row) {
    ParquetTestRow list;
    std::string bytes;
    for (int i = 0; i < row * 7 % 23; ++i) {
      const std::string token = plain_int64(i % 5 == 0 ? -3 : row * 1000 + i * i % 17);
      list.emplace_back(token);
      bytes += token;
    }
    tokens.rows.push_back(list);
    const std::string number = plain_int64(row * row % 7 * 1000003);
    scale.rows.push_back({row % 3 == 0 ? std::nullopt : std::optional(number)});
    expected.push_back(fmt::format("train-00000-of-00002/{:08} -1", row) +
                       (list.empty() ? "" : " input_ids.i64=" + bytes) + (row % 3 == 0 ? "" : " scale.f64=" + number));
  }
  using Encoding = ParquetEncoding;
  for (const auto& [of_tokens, of_scale] :
       {std::pair(Encoding::kDictionary, Encoding::kSplitBytes), std::pair(Encoding::kDelta, Encoding::kDictionary),
        std::pair(Encoding::kSplitBytes, Encoding::kPlain), std::pair(Encoding::kPlain, Encoding::kSplitBytes)}) {
    tokens.encoding = of_tokens;
    scale.encoding = of_scale;
    for (const ParquetCodec codec : {ParquetCodec::kUncompressed, ParquetCodec::kZstd}) {
      for (const std::size_t per_page : {1, 3, 50, 1000}) {
        for (const bool version_2 : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", parquet_encoding_name(of_tokens), static_cast<int>(codec), per_page,
                                   version_2));
          ShardNotes notes;
          EXPECT_EQ(parquet_listing(parquet_file({tokens, scale}, {.codec = codec,
                                                                   .version_2 = version_2,
                                                                   .rows_per_group = 17,
                                                                   .entries_per_page = per_page}),
                                    &notes),
                    expected);
          EXPECT_THAT(notes.problems, IsEmpty());
        }
      }
    }
  }
}

TEST(ParquetFormat, KeepsOnlySoMuchOfAListInMemory) {
  const std::size_t many = ParquetRowColumn::kJoinedBytesMax / 8 + 1;
  const ParquetTestColumn tokens{.path = "input_ids.list.element",
                                 .type = ParquetType::kInt64,
                                 .rows = {ParquetTestRow(many + 3, plain_int64(7)), ParquetTestRow(2, plain_int64(8))}};
  for (const std::size_t per_page : {many, many - 1}) {
    ShardNotes notes;
    const std::vector<std::string> rows =
        parquet_listing(parquet_file({tokens}, {.entries_per_page = per_page}), &notes);
    EXPECT_EQ(rows[0].find("input_ids") != std::string::npos, per_page < many);
    EXPECT_THAT(rows[1], HasSubstr("input_ids.i64=" + plain_int64(8) + plain_int64(8)));
    EXPECT_EQ(notes.problems.empty(), per_page < many);
  }
}

TEST(ParquetFormat, PassesOverWhatCannotBeAFieldAndSaysSo) {
  ParquetTestRow many(ParquetRowColumn::kListMax + 1, "x");
  ShardNotes notes;
  const std::vector<std::string> rows =
      parquet_listing(parquet_file({{.path = "text", .rows = {{"t"}}},
                                    {.path = "is_good", .type = ParquetType::kBoolean, .rows = {{"\1"}}},
                                    {.path = "many.list.element", .rows = {many}},
                                    {.path = "box.list.element",
                                     .type = ParquetType::kInt32,
                                     .is_optional = true,
                                     .rows = {{plain_int32(1), std::nullopt}}},
                                    {.path = "deltas",
                                     .type = ParquetType::kInt32,
                                     .encoding = ParquetEncoding::kDelta,
                                     .rows = {{plain_int32(1)}}}}),
                      &notes);
  EXPECT_THAT(rows, ElementsAre("train-00000-of-00002/00000000 -1 deltas.i32=" + plain_int32(1) + " text=t"));
  EXPECT_THAT(notes.problems, ElementsAre(AllOf(HasSubstr("1 column "), HasSubstr("'is_good'")),
                                          AllOf(HasSubstr("2 values"), HasSubstr("'many.list.element' in row 0"))));
}

TEST(ParquetFormat, TakesLabelsOfEveryKind) {
  const auto label_of = [](const std::string& name, ParquetType type, ParquetEncoding encoding,
                           const std::string& value, const std::string& huggingface = "") {
    return parquet_listing(parquet_file({{.path = "text", .rows = {{"t"}}},
                                         {.path = name, .type = type, .encoding = encoding, .rows = {{value}}}},
                                        {.huggingface = huggingface}))
        .at(0);
  };
  const std::string as_label = "train-00000-of-00002/00000000 1 text=t";
  EXPECT_EQ(label_of("label", ParquetType::kInt64, ParquetEncoding::kDelta, plain_int64(1)), as_label);
  EXPECT_EQ(label_of("Labels", ParquetType::kInt32, ParquetEncoding::kPlain, plain_int32(1)), as_label);
  EXPECT_EQ(label_of("target", ParquetType::kBoolean, ParquetEncoding::kPlain, "\1"), as_label);
  EXPECT_EQ(label_of("cls", ParquetType::kBoolean, ParquetEncoding::kRunLengths, "\1"), as_label);
  EXPECT_EQ(label_of("kind", ParquetType::kInt32, ParquetEncoding::kPlain, plain_int32(1)),
            "train-00000-of-00002/00000000 -1 kind.i32=" + plain_int32(1) + " text=t");
  EXPECT_EQ(label_of("kind", ParquetType::kInt32, ParquetEncoding::kPlain, plain_int32(1),
                     R"({"info": {"features": {"kind": {"names": ["a", "b"], "_type": "ClassLabel"}}}})"),
            as_label);
}

TEST(ParquetFormat, TakesTheNamesOfClassesFromHuggingFace) {
  std::vector<std::string> classes;
  const auto classes_with = [&](const std::string& features) {
    ShardNotes notes;
    parquet_listing(parquet_file(some_columns(), {.huggingface = R"({"info": {"features": )" + features + "}}"}),
                    &notes);
    return notes.classes;
  };
  EXPECT_THAT(
      classes_with(R"({"image": {"_type": "Image"}, "label": {"names": ["cat", "a/b~c"], "_type": "ClassLabel"}})"),
      ElementsAre("cat", "a/b~c"));
  EXPECT_THAT(classes_with(R"({"note": {"names": ["cat", "dog"], "_type": "ClassLabel"}})"), IsEmpty());
  EXPECT_THAT(classes_with(R"({"label": {"names": ["cat", "dog"], "_type": "Value"}})"), IsEmpty());
  EXPECT_THAT(classes_with(R"({"label": {"names": ["cat", "dog"], "_type": "ClassLabel")"), IsEmpty()) << "no JSON";
}

TEST(ParquetFormat, RefusesWhatItDoesNotReadAndSaysWhatToDo) {
  const auto refusal_of = [](ParquetCodec codec) {
    return parquet_refusal(parquet_file(some_columns(), {.codec = codec}));
  };
  EXPECT_THAT(refusal_of(ParquetCodec::kBrotli),
              AllOf(HasSubstr("'__key__'"), HasSubstr("Brotli"), HasSubstr("compression='zstd'")));
  EXPECT_THAT(refusal_of(ParquetCodec::kLzo), HasSubstr("LZO"));
  EXPECT_THAT(refusal_of(ParquetCodec::kLz4Framed), HasSubstr("Hadoop"));
  EXPECT_THAT(
      parquet_refusal(parquet_file({{.path = "text", .encoding = ParquetEncoding::kDeltaStrings, .rows = {{"t"}}}})),
      AllOf(HasSubstr("'text'"), HasSubstr("DELTA_BYTE_ARRAY"), HasSubstr("write_table")));
  std::string file = parquet_file(some_columns());
  EXPECT_THAT(parquet_refusal(file.substr(0, file.size() - 1) + "E"), HasSubstr("encrypted"));
}

TEST(ParquetFormat, FindsDamageByTheChecksumsOfPages) {
  std::string file = parquet_file(some_columns(), {.has_checksums = true});
  file[file.find("photograph")] = 'q';
  EXPECT_THAT(parquet_refusal(file),
              AllOf(HasSubstr("'image.bytes', page at byte"), HasSubstr("checksum does not match")));
  std::string other = parquet_file(some_columns(), {.has_checksums = false});
  other[other.find("photograph")] = 'q';
  EXPECT_EQ(parquet_listing(other).size(), 3u) << "there are none in most files";
}

TEST(ParquetFormat, RefusesTwoValuesForOneField) {
  EXPECT_THAT(parquet_refusal(parquet_file({{.path = "x", .rows = {{"1"}}}, {.path = "X", .rows = {{"2"}}}})),
              HasSubstr("row 0 has two values for the field 'x'"));
}

TEST(ParquetFormat, NeedsNoMoreMemoryThanItMay) {
  const std::string big(100000, 'x');
  const std::string file = parquet_file({{.path = "a", .rows = {{big}}}, {.path = "b", .rows = {{big}}}});
  MemorySource source = parquet_source(file);
  const auto read_within = [&](std::uint64_t bytes) {
    ParquetSamples samples(source, {}, bytes);
    SampleRow row;
    samples.next(row);
  };
  read_within(200100);
  const Error error = error_of([&] { read_within(150000); });
  EXPECT_EQ(error.kind(), ErrorKind::kLimit);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("column 'b'"), HasSubstr("150000 bytes"), HasSubstr("smaller pages")));
}

/// A file of one column whose footer says what is wanted.
struct LyingFooter {
  std::int64_t rows = 1, group_rows = 1, values = 1, bytes = 30, page = 4, type = 6, codec = 0, children = 1;
  std::string text() const {
    ThriftWriter footer;
    footer.begin_list(2, ThriftType::kStruct, 2);
    footer.begin_element();
    footer.binary(4, "schema");
    footer.int32(5, static_cast<std::int32_t>(children));
    footer.end_struct();
    footer.begin_element();
    footer.int32(1, 6);
    footer.int32(3, 0);
    footer.binary(4, "text");
    footer.end_struct();
    footer.int64(3, rows);
    footer.begin_list(4, ThriftType::kStruct, 1);
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
    footer.end_struct();
    return footer.bytes();
  }
};

std::string lie(const LyingFooter& footer, const std::string& pages = std::string(30, 'p')) {
  return parquet_refusal(parquet_around(pages, footer.text()));
}

TEST(ParquetFormat, RefusesFootersThatLie) {
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

TEST(ParquetFormat, RefusesPagesThatLie) {
  using namespace std::string_literals;
  const std::string value = "\1\0\0\0x"s;
  EXPECT_THAT(lie_of_page(page_header(5, 5, 2), value), HasSubstr("are left of its column"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, -1), value), HasSubstr("below 0"));
  EXPECT_THAT(lie_of_page(page_header(5, 5, 0), value), HasSubstr("there is none"));
  EXPECT_THAT(lie_of_page(page_header(5, 6, 1), value), HasSubstr("are left of its column chunk"));
  EXPECT_THAT(lie_of_page(page_header(6, 5, 1), value), HasSubstr("not compressed"));
  EXPECT_THAT(lie_of_page(page_header(6, 6, 1), value + "x"), HasSubstr("followed by other bytes"));
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

TEST(ParquetFormat, LocatesNothingOutsideOfTheFileWhateverItSays) {
  std::vector<ParquetTestColumn> columns = some_columns();
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

TEST(ParquetFormat, KnowsTheNamesOfShards) {
  const ParquetFormat format;
  EXPECT_TRUE(format.is_shard_name("train-00000-of-00041.parquet"));
  for (const char* name : {"a.parquet.sidx", "parquet", "a.parq"}) EXPECT_FALSE(format.is_shard_name(name)) << name;
}

}  // namespace
}  // namespace stoker
