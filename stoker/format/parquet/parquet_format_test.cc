#include "stoker/format/parquet/parquet_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/parquet/parquet_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kSomeRows = {"a/1 3 jpg=" + kParquetJpeg + " note=one", "b/2 -1 png=" + kParquetPng,
                                            "c/3 0 jpg=" + kParquetJpeg + "! note="};

TEST(ParquetFormat, ReadsWhatDatasetsWrites) {
  EXPECT_EQ(parquet_listing(parquet_file(some_parquet_columns())), kSomeRows);
  EXPECT_EQ(parquet_listing(parquet_file(some_parquet_columns(), {.version_2 = true, .has_checksums = false})),
            kSomeRows);
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

// As fastparquet, Spark and Hadoop write them.
TEST(ParquetFormat, DoesNotMindHowLevelsAreWrittenThatAreNotThere) {
  ParquetTestOptions options{.packs_absent_levels = true};
  EXPECT_EQ(parquet_listing(parquet_file(some_parquet_columns(), options)), kSomeRows);
  options.packs_levels = true;
  EXPECT_THAT(parquet_refusal(parquet_file(some_parquet_columns(), options)),
              AllOf(HasSubstr("'image.bytes'"), HasSubstr("BIT_PACKED"), HasSubstr("write_table")));
  EXPECT_THAT(parquet_refusal(parquet_file(
                  {{.path = "ids.list.element", .type = ParquetType::kInt32, .rows = {{plain_int32(1)}}}}, options)),
              HasSubstr("BIT_PACKED"));
}

// As fastparquet leaves them.
TEST(ParquetFormat, PassesOverBytesBehindTheLastValueOfAPage) {
  std::vector<ParquetTestColumn> columns = some_parquet_columns();
  const std::string ids = plain_int32(4) + plain_int32(5);
  columns.push_back({.path = "ids.list.element",
                     .type = ParquetType::kInt32,
                     .rows = {{plain_int32(4), plain_int32(5)}, {}, {plain_int32(4)}}});
  for (const ParquetEncoding encoding :
       {ParquetEncoding::kPlain, ParquetEncoding::kDictionary, ParquetEncoding::kDeltaLengths}) {
    for (ParquetTestColumn& column : columns) {
      const bool has_lengths = column.type == ParquetType::kByteArray;
      column.encoding = !has_lengths && encoding == ParquetEncoding::kDeltaLengths ? ParquetEncoding::kDelta : encoding;
    }
    for (const ParquetCodec codec : {ParquetCodec::kUncompressed, ParquetCodec::kSnappy}) {
      for (const bool version_2 : {false, true}) {
        const auto listing_with = [&](const std::string& spare) {
          return parquet_listing(
              parquet_file(columns, {.codec = codec, .version_2 = version_2, .rows_per_page = 2, .spare = spare}));
        };
        const std::vector<std::string> expected = listing_with("");
        EXPECT_THAT(expected.at(0), HasSubstr("ids.i32=" + ids));
        EXPECT_EQ(listing_with(std::string(11, '\0')), expected) << parquet_encoding_name(encoding);
      }
    }
  }
}

TEST(ParquetFormat, PassesOverRowGroupsWithoutRows) {
  const ParquetTestOptions options{.rows_per_group = 2, .has_empty_groups = true};
  std::vector<ParquetTestColumn> columns = some_parquet_columns();
  const std::string file = parquet_file(columns, options);
  EXPECT_EQ(parquet_listing(file), kSomeRows);
  std::string damaged = file;
  damaged.replace(damaged.find("photograph!"), 4, "PHOT");
  EXPECT_THAT(parquet_refusal(damaged), HasSubstr("checksum"));
  for (ParquetTestColumn& column : columns) column.rows.clear();
  EXPECT_THAT(parquet_listing(parquet_file(columns, options)), IsEmpty());
}

TEST(ParquetFormat, KeepsUnsignedNumbersWhole) {
  const std::string big = plain_int32(-1), bigger = plain_int64(-1);
  for (const ParquetEncoding encoding :
       {ParquetEncoding::kPlain, ParquetEncoding::kDictionary, ParquetEncoding::kDelta}) {
    for (const bool has_logical_types : {false, true}) {
      const auto unsigned_column = [&](const std::string& name, ParquetType type, const std::string& value) {
        return ParquetTestColumn{
            .path = name, .type = type, .is_unsigned = true, .encoding = encoding, .rows = {{value}}};
      };
      EXPECT_THAT(
          parquet_listing(parquet_file(
              {unsigned_column("label", ParquetType::kInt32, big), unsigned_column("x", ParquetType::kInt32, big),
               unsigned_column("y", ParquetType::kInt64, bigger),
               unsigned_column("z.list.element", ParquetType::kInt32, big)},
              {.has_logical_types = has_logical_types})),
          ElementsAre("train-00000-of-00002/00000000 4294967295 x.u32=" + big + " y.u64=" + bigger + " z.u32=" + big));
      ShardNotes notes;
      EXPECT_THAT(parquet_listing(parquet_file({unsigned_column("label", ParquetType::kInt64, bigger)},
                                               {.has_logical_types = has_logical_types}),
                                  &notes),
                  ElementsAre("train-00000-of-00002/00000000 -1"));
      EXPECT_THAT(notes.problems, ElementsAre(AllOf(HasSubstr("1 sample"), HasSubstr("2^63"), HasSubstr("row 0"))));
    }
  }
}

TEST(ParquetFormat, KnowsHalfPrecision) {
  for (const ParquetEncoding encoding :
       {ParquetEncoding::kPlain, ParquetEncoding::kDictionary, ParquetEncoding::kSplitBytes}) {
    const auto column = [&](const std::string& name, bool is_half, const ParquetTestRow& row) {
      return ParquetTestColumn{
          .path = name, .type = ParquetType::kFixedBytes, .is_half = is_half, .encoding = encoding, .rows = {row}};
    };
    EXPECT_THAT(parquet_listing(parquet_file({column("a", true, {"pq"}), column("b", false, {"pq"}),
                                              column("c.list.element", true, {"pq", "rs", "pq"})})),
                ElementsAre("train-00000-of-00002/00000000 -1 a.f16=pq b=pq c.f16=pqrspq"));
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

TEST(ParquetFormat, PutsNoOtherImageInThePlaceOfADamagedOne) {
  const ParquetTestColumn image = {
      .path = "image.bytes", .is_optional = true, .rows = {{}, {kParquetJpeg}, {"RIFFbroken"}, {""}, {}}};
  const ParquetTestColumn path = {.path = "image.path", .rows = std::vector<ParquetTestRow>(5, {"x"})};
  const ParquetTestColumn mask = {.path = "mask", .rows = std::vector<ParquetTestRow>(5, {kParquetPng})};
  const std::string key = "train-00000-of-00002/0000000";
  EXPECT_THAT(
      parquet_listing(parquet_file({image, path, mask})),
      ElementsAre(key + "0 -1 image.path=x mask=" + kParquetPng,
                  key + "1 -1 image.path=x jpg=" + kParquetJpeg + " mask.png=" + kParquetPng,
                  key + "2 -1 image.path=x jpg=RIFFbroken mask.png=" + kParquetPng,
                  key + "3 -1 image= image.path=x mask=" + kParquetPng, key + "4 -1 image.path=x mask=" + kParquetPng));
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
    parquet_listing(
        parquet_file(some_parquet_columns(), {.huggingface = R"({"info": {"features": )" + features + "}}"}), &notes);
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
    return parquet_refusal(parquet_file(some_parquet_columns(), {.codec = codec}));
  };
  EXPECT_THAT(refusal_of(ParquetCodec::kBrotli),
              AllOf(HasSubstr("'__key__'"), HasSubstr("Brotli"), HasSubstr("compression='zstd'")));
  EXPECT_THAT(refusal_of(ParquetCodec::kLzo), HasSubstr("LZO"));
  EXPECT_THAT(refusal_of(ParquetCodec::kLz4Framed), HasSubstr("Hadoop"));
  EXPECT_THAT(
      parquet_refusal(parquet_file({{.path = "text", .encoding = ParquetEncoding::kDeltaStrings, .rows = {{"t"}}}})),
      AllOf(HasSubstr("'text'"), HasSubstr("DELTA_BYTE_ARRAY"), HasSubstr("write_table")));
  std::string file = parquet_file(some_parquet_columns());
  EXPECT_THAT(parquet_refusal(file.substr(0, file.size() - 1) + "E"), HasSubstr("encrypted"));
}

TEST(ParquetFormat, FindsDamageByTheChecksumsOfPages) {
  std::string file = parquet_file(some_parquet_columns(), {.has_checksums = true});
  file[file.find("photograph")] = 'q';
  EXPECT_THAT(parquet_refusal(file),
              AllOf(HasSubstr("'image.bytes', page at byte"), HasSubstr("checksum does not match")));
  std::string other = parquet_file(some_parquet_columns(), {.has_checksums = false});
  other[other.find("photograph")] = 'q';
  EXPECT_EQ(parquet_listing(other).size(), 3u) << "there are none in most files";
}

TEST(ParquetFormat, RefusesTwoValuesForOneField) {
  EXPECT_THAT(parquet_refusal(parquet_file({{.path = "x", .rows = {{"1"}}}, {.path = "X", .rows = {{"2"}}}})),
              HasSubstr("row 0 cannot be used: it has two values for the field 'x'"));
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

TEST(ParquetFormat, KnowsTheNamesOfShards) {
  const ParquetFormat format;
  EXPECT_TRUE(format.is_shard_name("train-00000-of-00041.parquet"));
  for (const char* name : {"a.parquet.sidx", "parquet", "a.parq"}) EXPECT_FALSE(format.is_shard_name(name)) << name;
}

}  // namespace
}  // namespace stoker
