#include "stoker/format/arrow/arrow_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/format/arrow/arrow_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::string_literals;

const std::string kArrowJpeg = "\xff\xd8\xffphotograph"s;

/// "name.ending=content:integer ..." of each row of a table that stands between other bytes.
std::vector<std::string> arrow_listing(const std::string& table, std::vector<std::string>* passed_over = nullptr) {
  const std::string bytes = "before" + table + "after";
  MemorySource source("file.arrow", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  BlockPlaces places(source);
  ArrowRows rows(places, 6, 6 + table.size());
  std::vector<std::string> lines;
  while (rows.next()) {
    EXPECT_EQ(rows.number(), lines.size());
    std::string line;
    for (const RowValue& value : rows.values()) {
      std::string content(value.length, '?');
      read_fully(places.source(), value.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
      line += fmt::format("{}{}{}{}={}", line.empty() ? "" : " ", value.name, value.ending.empty() ? "" : ".",
                          value.ending, content);
      if (value.integer) line += fmt::format(":{}", *value.integer);
      EXPECT_EQ(value.text.value_or(content), content);
    }
    lines.push_back(line);
  }
  EXPECT_FALSE(rows.next()) << "nothing follows the last row";
  EXPECT_EQ(rows.number(), lines.size());
  if (passed_over) passed_over->assign(rows.passed_over().begin(), rows.passed_over().end());
  return lines;
}

std::string arrow_refusal(const std::string& table) {
  const Error error = error_of([&] { arrow_listing(table); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'file.arrow'"));
  return error.message();
}

ArrowTestBatch images_and_labels(const std::vector<std::string>& images, const std::vector<std::int64_t>& labels) {
  return {{.name = "image", .type = "bytes", .values = images},
          {.name = "label", .type = "i64", .values = arrow_i64s(labels)}};
}

std::string i64_line(std::int64_t number) { return fmt::format("{}:{}", arrow_i64s({number}).front(), number); }

TEST(ArrowRows, ReadsBatchesOfStreamsAndFiles) {
  const std::vector<ArrowTestBatch> batches = {images_and_labels({kArrowJpeg, "none"}, {3, -4}),
                                               images_and_labels({}, {}), images_and_labels({""}, {5})};
  const auto expected = ElementsAre("image.jpg=" + kArrowJpeg + " label.i64=" + i64_line(3),
                                    "image=none label.i64=" + i64_line(-4), "image= label.i64=" + i64_line(5));
  EXPECT_THAT(arrow_listing(arrow_stream(batches)), expected);
  EXPECT_THAT(arrow_listing(arrow_file(batches)), expected);
  EXPECT_THAT(arrow_listing(arrow_stream(batches, {.has_end_mark = false})), expected);
  for (const ArrowTestCodec codec : {ArrowTestCodec::kZstd, ArrowTestCodec::kLz4}) {
    EXPECT_THAT(arrow_listing(arrow_stream(batches, {.codec = codec})), expected);
    EXPECT_THAT(arrow_listing(arrow_file(batches, {.codec = codec})), expected);
  }
}

TEST(ArrowRows, LeavesNullsOut) {
  const ArrowTestBatch batch = {
      {.name = "a", .type = "text", .values = {"x", "", "yz"}, .valid = {true, false, true}},
      {.name = "b", .type = "i64", .values = arrow_i64s({1, 0, 2}), .valid = {false, true, true}},
      {.name = "c", .type = "null", .rows = 3}};
  EXPECT_THAT(arrow_listing(arrow_stream({batch})),
              ElementsAre("a=x", "b.i64=" + i64_line(0), "a=yz b.i64=" + i64_line(2)));
}

TEST(ArrowRows, KnowsNumbersOfAllWidths) {
  const ArrowTestBatch batch = {{.name = "a", .type = "i8", .values = {"\xff"}},
                                {.name = "b", .type = "u8", .values = {"\xff"}},
                                {.name = "c", .type = "i16", .values = {"\xfe\xff"}},
                                {.name = "d", .type = "u32", .values = {"\1\0\0\0"s}},
                                {.name = "e", .type = "u64", .values = {"\0\0\0\0\0\0\0\x80"s}},
                                {.name = "f", .type = "f32", .values = {"real"}},
                                {.name = "g", .type = "f64", .values = {"realreal"}},
                                {.name = "h", .type = "bool", .values = {"\1"}},
                                {.name = "i", .type = "large_text", .values = {"long"}}};
  EXPECT_THAT(arrow_listing(arrow_stream({batch})),
              ElementsAre("a.i8=\xff:-1 b.u8=\xff:255 c.i16=\xfe\xff:-2 d.u32=\1\0\0\0:1 "s +
                          "e.u64=\0\0\0\0\0\0\0\x80:-1 f.f32=real g.f64=realreal h.u8=\1:1 i=long"s));
}

TEST(ArrowRows, TakesStructsAndListsApart) {
  const ArrowTestColumn image = {.name = "image",
                                 .type = "struct",
                                 .children = {{.name = "bytes", .type = "bytes", .values = {kArrowJpeg, "x"}},
                                              {.name = "path", .type = "text", .values = {"p", "q"}}},
                                 .valid = {true, false},
                                 .rows = 2};
  const ArrowTestColumn box = {.name = "box",
                               .type = "list",
                               .counts = {3, 0},
                               .children = {{.name = "item", .type = "i16", .values = {"ab", "cd", "ef"}}}};
  const ArrowTestColumn names = {.name = "names",
                                 .type = "list",
                                 .counts = {1, 2},
                                 .children = {{.name = "item", .type = "text", .values = {"u", "v", "w"}}}};
  EXPECT_THAT(arrow_listing(arrow_stream({{image, box, names}})),
              ElementsAre("image.jpg=" + kArrowJpeg + " image.path=p box.i16=abcdef names.0=u", "names.0=v names.1=w"));
}

TEST(ArrowRows, ReadsRowsWithoutOffsets) {
  const ArrowTestColumn hash = {.name = "hash", .type = "fixed_bytes", .values = {"abc", "def"}, .fixed = 3};
  const ArrowTestColumn box = {.name = "box",
                               .type = "fixed_list",
                               .children = {{.name = "item", .type = "i16", .values = {"ab", "cd", "ef", "gh"}}},
                               .rows = 2,
                               .fixed = 2};
  EXPECT_THAT(arrow_listing(arrow_stream({{hash, box}})),
              ElementsAre("hash=abc box.i16=abcd", "hash=def box.i16=efgh"));
  ArrowTestColumn short_box = box;
  short_box.rows = 3;
  EXPECT_THAT(arrow_refusal(arrow_stream({{short_box}})), HasSubstr("column 'item' of its table of Arrow has 4 rows"));
}

TEST(ArrowRows, FindsBytesThatViewsShow) {
  const std::string first = "a text of more than twelve bytes", second = "and another of these";
  const ArrowTestColumn texts = {.name = "text",
                                 .type = "text_view",
                                 .values = {"short", first, second, "", "twelve bytes"},
                                 .valid = {true, true, true, false, true}};
  const ArrowTestBatch batch = {{.name = "n", .type = "i8", .values = {"a", "b", "c", "d", "e"}}, texts};
  for (const ArrowTestCodec codec : {ArrowTestCodec::kNone, ArrowTestCodec::kLz4}) {
    EXPECT_THAT(arrow_listing(arrow_stream({batch}, {.codec = codec})),
                ElementsAre("n.i8=a:97 text=short", "n.i8=b:98 text=" + first, "n.i8=c:99 text=" + second, "n.i8=d:100",
                            "n.i8=e:101 text=twelve bytes"));
  }
}

TEST(ArrowRows, LooksValuesUpInDictionaries) {
  const auto batch = [](const std::vector<std::string>& names, const std::vector<std::int8_t>& numbers) {
    return ArrowTestBatch{{.name = "animal", .type = "text", .values = names, .dictionary = 7, .numbers = numbers},
                          {.name = "weight",
                           .type = "i8",
                           .values = {"x", "y"},
                           .valid = std::vector<bool>(numbers.size(), true),
                           .dictionary = 8,
                           .numbers = std::vector<std::int8_t>(numbers.size(), 1)}};
  };
  EXPECT_THAT(arrow_listing(arrow_stream({batch({"cat", "dog"}, {1, 0, 1}), batch({"emu"}, {0})})),
              ElementsAre("animal=dog weight.i8=y:121", "animal=cat weight.i8=y:121", "animal=dog weight.i8=y:121",
                          "animal=emu weight.i8=y:121"))
      << "each batch has its own words";
  for (const std::int8_t number : {2, -1}) {
    EXPECT_THAT(arrow_refusal(arrow_stream({batch({"cat", "dog"}, {number})})),
                HasSubstr("column 'animal' of its table of Arrow has row 0 outside of its dictionary"));
  }
}

TEST(ArrowRows, ReadsTimesAsNumbersAndPassesOverDecimals) {
  const ArrowTestBatch batch = {{.name = "day", .type = "date", .values = {"\1\0\0\0"s}},
                                {.name = "hour", .type = "time", .values = {"\2\0\0\0"s}},
                                {.name = "at", .type = "timestamp", .values = arrow_i64s({3})},
                                {.name = "took", .type = "duration", .values = arrow_i64s({4})},
                                {.name = "price", .type = "decimal", .values = {std::string(16, 'd')}},
                                {.name = "every", .type = "interval", .values = {std::string(8, 'e')}},
                                {.name = "pairs",
                                 .type = "map",
                                 .counts = {1},
                                 .children = {{.name = "entries",
                                               .type = "struct",
                                               .children = {{.name = "key", .type = "text", .values = {"k"}},
                                                            {.name = "value", .type = "i8", .values = {"v"}}},
                                               .rows = 1}}}};
  std::vector<std::string> passed_over;
  EXPECT_THAT(arrow_listing(arrow_stream({batch}), &passed_over),
              ElementsAre("day.i32=\1\0\0\0:1 hour.i32=\2\0\0\0:2 "s + "at.i64=" + i64_line(3) +
                          " took.i64=" + i64_line(4) + " pairs.0.key=k pairs.0.value.i8=v:118"));
  EXPECT_THAT(passed_over, ElementsAre("every", "price"));
}

TEST(ArrowRows, CountsRowsOnlyWhereTheyHaveBytes) {
  const ArrowTestBatch batch = {{.name = "nothing", .type = "null", .rows = 1'000'000'000}};
  EXPECT_THAT(arrow_refusal(arrow_stream({batch})), HasSubstr("is said to have 1000000000 rows in 0 bytes"));
}

TEST(ArrowRows, CountsBytesOnceThatManyBuffersHave) {
  const ArrowTestBatch batch = {{.name = "nothing", .type = "null", .rows = 100'000'000},
                                {.name = "text", .type = "text", .values = {std::string(65'528, 'x')}}};
  EXPECT_THAT(arrow_refusal(arrow_stream({batch}, {.whole_buffers = 4096})),
              HasSubstr("is said to have 100000000 rows in 65536 bytes"));
}

TEST(ArrowRows, ReadsMillionsOfEqualRowsThatAreCompressedToNothing) {
  constexpr std::size_t kRows = 1'000'000;
  const std::vector<std::string> values(kRows, "\7");
  const std::string table =
      arrow_stream({{{.name = "n", .type = "i8", .values = values}}}, {.codec = ArrowTestCodec::kZstd});
  EXPECT_LT(table.size(), 2000u);
  MemorySource source("file.arrow", std::vector<std::uint8_t>(table.begin(), table.end()));
  BlockPlaces places(source);
  ArrowRows rows(places, 0, table.size());
  std::size_t count = 0;
  while (rows.next()) ++count;
  EXPECT_EQ(count, kRows);
}

TEST(ArrowRows, LimitsTheEqualRowsOfAllBatchesTogether) {
  constexpr std::uint64_t kMost = ArrowRows::kEqualRowsMax;
  const auto batch = [](std::uint64_t rows) {
    return ArrowTestBatch{{.name = "nothing", .type = "null", .rows = rows}};
  };
  const auto refusal = [&](std::uint64_t first, std::uint64_t second) {
    const std::string table = arrow_stream({batch(first), batch(second)}, {.codec = ArrowTestCodec::kZstd});
    MemorySource source("file.arrow", std::vector<std::uint8_t>(table.begin(), table.end()));
    BlockPlaces places(source);
    ArrowRows rows(places, 0, table.size());
    return fault_of_data([&] {
      while (rows.next()) {
      }
    });
  };
  EXPECT_EQ(refusal(kMost - 5, 5), std::nullopt);
  EXPECT_THAT(refusal(kMost - 5, 6).value_or(""), HasSubstr("is said to have 6 rows in 0 bytes"));
}

TEST(ArrowRows, RefusesNamesWithoutEnd) {
  EXPECT_THAT(arrow_refusal(arrow_stream({{{.name = std::string(1 << 20, 'n'), .type = "i8", .values = {"a"}}}})),
              HasSubstr("has 1048576 bytes; the limit is 4096"));
  const std::string half(3000, 'h');
  const ArrowTestColumn holder = {
      .name = half, .type = "struct", .children = {{.name = half, .type = "i8", .values = {"a"}}}, .rows = 1};
  EXPECT_THAT(arrow_refusal(arrow_stream({{holder}})), HasSubstr("row 0 of its table of Arrow cannot be used: a name"));
}

TEST(ArrowRows, LimitsTheNamesOfElementsWithoutBytes) {
  ArrowTestColumn lists = {.name = "item", .type = "struct", .rows = 1 << 18};
  for (const std::uint64_t rows : {4096U, 64U, 1U}) {
    lists = {.name = "a", .type = "fixed_list", .children = {lists}, .rows = rows, .fixed = 64};
  }
  EXPECT_THAT(arrow_refusal(arrow_stream({{lists}})), HasSubstr("more than 65535 different names"));
}

TEST(ArrowRows, NamesAFileThatHasNoEnd) {
  const std::string whole = arrow_file({images_and_labels({"x"}, {1})});
  for (const std::size_t cut : {1u, 10u, 40u}) {
    EXPECT_THAT(arrow_refusal(whole.substr(0, whole.size() - cut)), HasSubstr("is truncated"));
  }
}

TEST(ArrowRows, PassesOverListsThatDoNotLieTogetherOrAreLong) {
  const auto list_of = [](const std::string& name, std::uint32_t count, ArrowTestColumn child) {
    return ArrowTestColumn{.name = name, .type = "list", .counts = {count}, .children = {std::move(child)}};
  };
  const std::vector<std::string> many(257, "t");
  const ArrowTestColumn pairs =
      list_of("pairs", 200,
              {.name = "item",
               .type = "list",
               .counts = std::vector<std::uint32_t>(200, 2),
               .children = {{.name = "item", .type = "text", .values = std::vector<std::string>(400, "p")}}});
  std::vector<std::string> passed_over;
  EXPECT_THAT(arrow_listing(
                  arrow_stream({{list_of("truths", 1, {.name = "item", .type = "bool", .values = {"\1"}}),
                                 list_of("nulls", 2,
                                         {.name = "item", .type = "i8", .values = {"a", "b"}, .valid = {true, false}}),
                                 list_of("texts", 257, {.name = "item", .type = "text", .values = many}),
                                 list_of("bytes", 257, {.name = "item", .type = "u8", .values = many}), pairs}}),
                  &passed_over),
              ElementsAre("bytes.u8=" + std::string(257, 't')));
  EXPECT_THAT(passed_over, ElementsAre("nulls", "pairs", "texts", "truths"));
}

TEST(ArrowRows, PassesOverOnlyTheListsThatHaveNulls) {
  constexpr std::uint32_t kCounts[] = {3,  2, 0,
                                       41, 1, 17};  // ends of them lie within bytes of what is valid, and at their ends
  for (std::size_t null_list = 0; null_list < std::size(kCounts); ++null_list) {
    ArrowTestColumn lists = {.name = "a", .type = "list", .children = {{.name = "item", .type = "u8"}}};
    ArrowTestColumn& items = lists.children.front();
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < std::size(kCounts); ++i) {
      lists.counts.push_back(kCounts[i]);
      for (std::uint32_t item = 0; item < kCounts[i]; ++item) {
        items.values.emplace_back(1, static_cast<char>('a' + i));
        items.valid.push_back(i != null_list || item + 1 < kCounts[i]);
      }
      const bool is_there = kCounts[i] > 0 && i != null_list;
      expected.push_back(is_there ? "a.u8=" + std::string(kCounts[i], static_cast<char>('a' + i)) : "");
    }
    std::vector<std::string> passed_over;
    EXPECT_EQ(arrow_listing(arrow_stream({{lists}}), &passed_over), expected) << null_list;
    EXPECT_EQ(passed_over.size(), kCounts[null_list] > 0 ? 1U : 0U);
  }
}

TEST(ArrowRows, SaysWhatItDoesNotRead) {
  EXPECT_THAT(arrow_refusal(arrow_stream({{{.name = "when", .type = "union"}}})),
              HasSubstr("column 'when' is of type 99 of Arrow"));
  ArrowTestColumn lists = {.name = "lists",
                           .type = "list",
                           .counts = {1},
                           .children = {{.name = "item", .type = "i8", .values = {"a"}}},
                           .dictionary = 0,
                           .numbers = {0}};
  EXPECT_THAT(arrow_refusal(arrow_stream({{lists}})), HasSubstr("'lists' has a dictionary of lists"));
  EXPECT_THAT(arrow_refusal(""), HasSubstr("does not begin with a schema"));
  EXPECT_THAT(arrow_refusal("no table at all"), HasSubstr("no message"));
  EXPECT_THAT(arrow_listing(arrow_stream({images_and_labels({}, {})})), IsEmpty());
}

TEST(ArrowRows, NamesTheFileThatIsTruncatedOrDamaged) {
  const std::vector<ArrowTestBatch> batches = {images_and_labels({kArrowJpeg, "x"}, {1, 2}),
                                               images_and_labels({"y"}, {3})};
  for (const ArrowTestCodec codec : {ArrowTestCodec::kNone, ArrowTestCodec::kZstd, ArrowTestCodec::kLz4}) {
    const std::string good = arrow_stream(batches, {.codec = codec});
    int refused = 0;
    for (std::size_t length = 0; length < good.size(); ++length) {
      try {
        EXPECT_LT(arrow_listing(good.substr(0, length)).size(), 4u);  // a stream may end after a batch
      } catch (const Error& error) {
        EXPECT_THAT(error.message(), HasSubstr("'file.arrow'"));
        ++refused;
      }
    }
    EXPECT_GE(refused, static_cast<int>(good.size()) - 3);
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string bytes = good;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      try {
        arrow_listing(bytes);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kData);
        EXPECT_THAT(error.message(), HasSubstr("'file.arrow'"));
      }
    }
  }
}

}  // namespace
}  // namespace stoker
