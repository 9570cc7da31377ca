#include "stoker/format/litdata/litdata_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/arrow/arrow_testing.h"
#include "stoker/format/litdata/litdata_testing.h"
#include "stoker/format/scan_testing.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::string_literals;

const std::string kLitJpeg = "\xff\xd8\xffphotograph"s, kLitPng = "\x89PNG\r\n\x1a\ndrawing"s;
const std::string kLitName = "data/chunk-0-7.bin";

std::shared_ptr<const LitDataList> parsed_list(const std::string& json) {
  std::optional<LitDataList> list = parse_litdata_list(as_bytes(json));
  EXPECT_TRUE(list);
  return std::make_shared<const LitDataList>(*std::move(list));
}

/// "key label field=content ..." of each sample.
std::vector<std::string> litdata_listing(const std::string& list, const std::string& bytes,
                                         ShardNotes* notes = nullptr) {
  MemorySource source(kLitName, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  LitDataSamples samples(source, parsed_list(list));
  return scan_listing(samples, notes);
}

std::string litdata_refusal(const std::string& list, const std::string& bytes) {
  const Error error = error_of([&] { litdata_listing(list, bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'" + kLitName + "'"));
  return error.message();
}

/// The line of a chunk with one sample.
std::string one_sample(const std::vector<LitDataTestLeaf>& leaves, const std::vector<std::string>& values,
                       ShardNotes* notes = nullptr) {
  return litdata_listing(litdata_list(leaves, {}), litdata_chunk({litdata_item(values)}), notes).front();
}

std::string refusal_of_one(const LitDataTestLeaf& leaf, const std::string& value) {
  return litdata_refusal(litdata_list({leaf}, {}), litdata_chunk({litdata_item({value})}));
}

const std::vector<LitDataTestLeaf> kLitLeaves = {{"image", "jpeg"}, {"label", "int"}, {"note", "str"}};

std::vector<std::string> three_items() {
  std::vector<std::string> items;
  for (const int i : {0, 1, 2}) items.push_back(litdata_item({kLitJpeg, litdata_int(i - 1), std::string(3U * i, 'x')}));
  return items;
}

TEST(LitDataFormat, TellsValuesByTheirNamesAndSerializers) {
  EXPECT_EQ(
      one_sample({{"Filename", "str"},
                  {"cap/text", "text"},
                  {"mask", "bytes"},
                  {"sound", "file:wav"},
                  {"film", "video:mp4"},
                  {"sheet", "pdf"},
                  {"seen", "bool"},
                  {"weight", "float"},
                  {"x", "jpeg"},
                  {"y", "int"}},
                 {"n01/a.jpg", "cat", kLitPng, "RIFF", "moov", "%PDF", "\1", "8 bytes.", kLitJpeg, litdata_int(200)}),
      "n01/a 200 cap.text=cat filename=n01/a.jpg film.mp4=moov jpg=" + kLitJpeg + " mask.png=" + kLitPng +
          " seen.u8=\1 sheet.pdf=%PDF sound.wav=RIFF weight.f64=8 bytes.");
}

TEST(LitDataFormat, NumbersSamplesWithoutAKey) {
  EXPECT_THAT(litdata_listing(litdata_list(kLitLeaves, {}), litdata_chunk(three_items())),
              ElementsAre("chunk-0-7/00000000 -1 jpg=" + kLitJpeg + " note=",
                          "chunk-0-7/00000001 0 jpg=" + kLitJpeg + " note=xxx",
                          "chunk-0-7/00000002 1 jpg=" + kLitJpeg + " note=xxxxxx"));
}

TEST(LitDataFormat, TakesTheOnlyImageAndTheOnlyIntegerOfTuples) {
  const std::string leaf = R"({\"type\": null, \"context\": null, \"children_spec\": []})";
  const auto tuple_of = [&](const std::string& formats, const std::string& children) {
    return R"({"chunks": [], "config": {"data_format": [)" + formats +
           R"(], "data_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [)" +
           children + "]}]\"}}";
  };
  const std::string dictionary =
      R"({\"type\": \"collections.OrderedDict\", \"context\": \"[\\\"a\\\", 7]\", \"children_spec\": [)" + leaf + ", " +
      leaf + "]}";
  EXPECT_THAT(litdata_listing(tuple_of(R"("bytes", "int")", leaf + ", " + leaf),
                              litdata_chunk({litdata_item({kLitPng, litdata_int(5)})})),
              ElementsAre("chunk-0-7/00000000 5 png=" + kLitPng));
  EXPECT_THAT(litdata_listing(tuple_of(R"("str", "str", "int")", dictionary + ", " + leaf),
                              litdata_chunk({litdata_item({"u", "v", litdata_int(5)})})),
              ElementsAre("chunk-0-7/00000000 -1 0.7=v 0.a=u 1.i64=" + litdata_int(5)));
}

TEST(LitDataFormat, MakesPicturesOfPixels) {
  const std::string pil = litdata_u32s({2, 1, 3}) + "RGB" + "abcdef", numpy = litdata_u32s({4, 2, 1, 2}) + "gh";
  ShardNotes notes;
  const std::string line = one_sample({{"image", "pil"}, {"mask", "numpy"}}, {pil, numpy}, &notes);
  EXPECT_TRUE(line.ends_with("\nabcdef"));
  EXPECT_THAT(line, HasSubstr("'shape': (1, 2, 3), }"));
  EXPECT_THAT(line, HasSubstr("\ngh npy=\x93NUMPY"));
  EXPECT_THAT(line, HasSubstr("'shape': (1, 2), }"));
  EXPECT_NE(notes.blocks, nullptr);
  const std::string other = litdata_u32s({2, 1, 4}) + "I;16" + "abcd";
  EXPECT_EQ(one_sample({{"image", "pil"}}, {other}), "chunk-0-7/00000000 -1 image.pil=" + other);
  EXPECT_THAT(refusal_of_one({"p", "pil"}, pil + "g"), HasSubstr("2 x 1 pixels in RGB, and has 7 bytes"));
  EXPECT_THAT(refusal_of_one({"p", "pil"}, pil.substr(0, 11)), HasSubstr("no width and height"));
  EXPECT_THAT(refusal_of_one({"p", "pil"}, litdata_u32s({2, 1, 9})), HasSubstr("ends in its mode"));
}

TEST(LitDataFormat, LocatesTheElementsOfArrays) {
  EXPECT_EQ(one_sample({{"a", "numpy"}, {"b", "no_header_numpy:3"}, {"c", "no_header_tensor:20"}, {"d", "numpy"}},
                       {litdata_u32s({9, 1, 2}) + "floatval", "8 bytes.", "ab", litdata_u32s({11, 0}) + "complex."}),
            "chunk-0-7/00000000 -1 a.f32=floatval a.shape.u32=" + litdata_u32s({2}) +
                " b.i64=8 bytes. c.u16=ab d=" + litdata_u32s({11, 0}) + "complex.");
  EXPECT_THAT(refusal_of_one({"a", "numpy"}, litdata_u32s({9, 1, 3}) + "floatval"),
              HasSubstr("what its shape asks for"));
  EXPECT_THAT(refusal_of_one({"a", "numpy"}, litdata_u32s({9, 0xffffffff})), HasSubstr("what its shape asks for"));
  EXPECT_THAT(refusal_of_one({"a", "numpy"}, litdata_u32s({10, 2, 0x80000000, 0x40000000})), HasSubstr("its shape"));
}

// As of data sets that are one array, or one list of images, in each sample.
TEST(LitDataFormat, NamesThePartsOfAValueWithoutAName) {
  EXPECT_EQ(one_sample({{"", "numpy"}}, {litdata_u32s({9, 1, 2}) + "floatval"}),
            "chunk-0-7/00000000 -1 value.f32=floatval value.shape.u32=" + litdata_u32s({2}));
  EXPECT_EQ(one_sample({{"", "jpeg_array"}}, {litdata_u32s({2, 1, 2}) + "abb"}),
            "chunk-0-7/00000000 -1 value.0.jpg=a value.1.jpg=bb");
}

TEST(LitDataFormat, ReadsTensorsOfEitherByteOrder) {
  const std::string little = litdata_u32s({15, 2, 1, 2}),
                    big = litdata_u32s({0x0f000000, 0x02000000, 0x01000000, 0x02000000});
  EXPECT_EQ(one_sample({{"t", "tensor"}}, {little + "integers"}),
            "chunk-0-7/00000000 -1 t.i32=integers t.shape.u32=" + litdata_u32s({1, 2}));
  EXPECT_EQ(one_sample({{"t", "tensor"}}, {big + "integers"}),
            "chunk-0-7/00000000 -1 t.i32=integers t.shape.u32be=" + litdata_u32s({0x01000000, 0x02000000}));
  EXPECT_THAT(refusal_of_one({"t", "tensor"}, big + "integer"), HasSubstr("what its shape asks for"));
}

TEST(LitDataFormat, TakesListsOfImagesApart) {
  const auto list_of = [](const std::vector<std::uint32_t>& sizes, const std::string& images) {
    return litdata_u32s({static_cast<std::uint32_t>(sizes.size())}) + litdata_u32s(sizes) + images;
  };
  EXPECT_EQ(one_sample({{"views", "jpeg_array"}}, {list_of({13, 15}, kLitJpeg + kLitPng)}),
            "chunk-0-7/00000000 -1 views.0.jpg=" + kLitJpeg + " views.1.png=" + kLitPng);
  EXPECT_THAT(refusal_of_one({"v", "jpeg_array"}, list_of({13, 16}, kLitJpeg + kLitPng)),
              HasSubstr("image 1 of its 'v'"));
  EXPECT_THAT(refusal_of_one({"v", "jpeg_array"}, list_of({13}, kLitJpeg + "x")), HasSubstr("1 byte follow"));
  EXPECT_THAT(refusal_of_one({"v", "jpeg_array"}, litdata_u32s({0xffffffff})), HasSubstr("4294967295 images"));
  EXPECT_THAT(refusal_of_one({"v", "jpeg_array"}, "x"), HasSubstr("in 1 byte"));
}

TEST(LitDataFormat, NeverLooksAtWhatWasPickled) {
  ShardNotes notes;
  EXPECT_EQ(one_sample({{"image", "bytes"}, {"obj", "pickle"}}, {kLitPng, "evil"}, &notes),
            "chunk-0-7/00000000 -1 png=" + kLitPng);
  ASSERT_THAT(notes.problems, SizeIs(1));
  EXPECT_THAT(notes.problems.front(), HasSubstr("'data/chunk-0-7.bin': skips what was pickled"));
  EXPECT_THAT(notes.problems.front(), HasSubstr("'obj'"));
}

TEST(LitDataFormat, ReadsItemsOfTokens) {
  std::string list =
      litdata_list({{"0", "no_header_tensor:20"}}, {{"chunk-0-7.bin", 2}}, "\"item_loader\": \"TokensLoader\"");
  list.replace(list.find("\"dim\":null"), 10, "\"dim\":5");
  EXPECT_THAT(litdata_listing(list, litdata_chunk({"abcd", "efghij"})),
              ElementsAre("chunk-0-7/00000000 -1 0.u16=abcd", "chunk-0-7/00000001 -1 0.u16=efghij"));
}

TEST(LitDataFormat, ReadsCompressedChunks) {
  const std::string list = litdata_list(kLitLeaves, {});
  const std::vector<std::string> items = three_items(), expected = litdata_listing(list, litdata_chunk(items));
  const std::string whole(as_text(compressed_by_zstd(as_bytes(litdata_chunk(items)))));
  for (const std::string& stored : {whole, litdata_chunk_of_frames(items, 2), litdata_chunk_of_frames(items, 1)}) {
    ShardNotes notes;
    EXPECT_EQ(litdata_listing(list, stored, &notes), expected);
    EXPECT_NE(notes.blocks, nullptr);
    for (std::size_t length = 0; length < stored.size(); ++length) litdata_refusal(list, stored.substr(0, length));
  }
}

TEST(LitDataFormat, ReadsSamplesThatAreCompressedOneByOne) {
  const std::string list = litdata_list(kLitLeaves, {}, "\"compression_level\": \"sample\"");
  const std::vector<std::string> items = three_items();
  const std::string good = litdata_chunk_by_one(items);
  EXPECT_EQ(litdata_listing(list, good), litdata_listing(litdata_list(kLitLeaves, {}), litdata_chunk(items)));
  EXPECT_EQ(litdata_listing(list, litdata_chunk(items)), litdata_listing(list, good))
      << "litdata may leave them as they were";
  EXPECT_THAT(litdata_refusal(list, std::string(as_text(compressed_by_zstd(as_bytes(good))))),
              HasSubstr("one of both"));
  for (std::size_t length = 0; length < good.size(); ++length) litdata_refusal(list, good.substr(0, length));
}

TEST(LitDataFormat, ReadsTablesOfArrow) {
  const std::vector<ArrowTestBatch> batches = {
      {{.name = "image", .type = "bytes", .values = {kLitJpeg, kLitPng}},
       {.name = "label", .type = "i64", .values = arrow_i64s({4, -1})},
       {.name = "filename", .type = "text", .values = {"n/a.jpg", ""}, .valid = {true, false}}},
      {{.name = "image", .type = "bytes", .values = {""}, .valid = {false}},
       {.name = "label", .type = "i64", .values = {litdata_int(7)}},
       {.name = "filename", .type = "text", .values = {""}, .valid = {false}}}};
  const std::string list = litdata_list({{"image", "bytes"}, {"label", "int"}, {"filename", "str"}}, {});
  const auto expected = ElementsAre("n/a 4 filename=n/a.jpg jpg=" + kLitJpeg, "chunk-0-7/00000001 -1 png=" + kLitPng,
                                    "chunk-0-7/00000002 7 sample=" + litdata_int(7));
  EXPECT_THAT(litdata_listing(list, litdata_chunk_of_table(3, arrow_file(batches))), expected);
  ShardNotes notes;
  EXPECT_THAT(
      litdata_listing(list, litdata_chunk_of_table(3, arrow_stream(batches, {.codec = ArrowTestCodec::kZstd})), &notes),
      expected);
  EXPECT_NE(notes.blocks, nullptr);
  const std::string whole = litdata_chunk_of_table(3, arrow_file(batches));
  EXPECT_THAT(litdata_listing(list, std::string(as_text(compressed_by_zstd(as_bytes(whole))))), expected);
  EXPECT_THAT(litdata_refusal(list, litdata_chunk_of_table(2, arrow_file(batches))),
              HasSubstr("said to have 2 samples, and its table of Arrow has more"));
  EXPECT_THAT(litdata_refusal(list, litdata_chunk_of_table(4, arrow_file(batches))),
              HasSubstr("said to have 4 samples, and its table of Arrow has 3"));
}

TEST(LitDataFormat, PrefersTheTableThatFollowsTheItems) {
  const std::string table = arrow_file(
      {{{.name = "label", .type = "bool", .values = {"\1"}}, {.name = "note", .type = "text", .values = {"x"}}}});
  std::string chunk = litdata_chunk({litdata_item({litdata_int(0), ""})});
  chunk += table + litdata_u32s({static_cast<std::uint32_t>(table.size())}) + "LDARW01\0"s;
  EXPECT_THAT(litdata_listing(litdata_list({{"label", "int"}, {"note", "str"}}, {}), chunk),
              ElementsAre("chunk-0-7/00000000 1 note=x"));
}

TEST(LitDataFormat, TakesListsAndDictionariesApart) {
  const auto text = [](const std::string& bytes) {
    return litdata_u32s({static_cast<std::uint32_t>(bytes.size())}) + bytes;
  };
  const std::string integers = "\2" + litdata_u32s({2}) + litdata_int(1) + litdata_int(2);
  const std::string records = "\6" + litdata_u32s({1, 2}) + text("w") + text("ok") + "\x12" + litdata_int(3) + "\x14\1";
  const std::string texts = "\1" + litdata_u32s({2}) + text("u") + text("");
  const std::string dictionary = "\5" + litdata_u32s({3}) + text("a") + "\x08" + litdata_int(9) + text("b") + "\x0b" +
                                 text("c") + "\0"s + text("{}");
  EXPECT_EQ(one_sample({{"box", "json"}, {"d", "json"}, {"j", "json"}, {"r", "json"}, {"t", "json"}},
                       {integers, dictionary, "[1]", records, texts}),
            "chunk-0-7/00000000 -1 box.i64=" + litdata_int(1) + litdata_int(2) + " d.a.i64=" + litdata_int(9) +
                " d.c.json={} j.json=[1] r.0.ok.u8=\1 r.0.w.i64=" + litdata_int(3) + " t.0=u t.1=");
  for (const std::string& good : {integers, records, texts, dictionary}) {
    for (std::size_t length = 1; length < good.size(); ++length) {
      EXPECT_THAT(refusal_of_one({"v", "json"}, good.substr(0, length)), HasSubstr("sample 0"));
    }
    EXPECT_THAT(refusal_of_one({"v", "json"}, good + "x"), HasSubstr("1 byte follow"));
  }
  EXPECT_THAT(refusal_of_one({"v", "json"}, "\x20"), HasSubstr("tag 32"));
  EXPECT_THAT(refusal_of_one({"v", "json"}, "\6" + litdata_u32s({4000000000, 0})), HasSubstr("records without keys"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "\5" + litdata_u32s({1, 0});
  EXPECT_THAT(refusal_of_one({"v", "json"}, deep), HasSubstr("deep"));
  std::string many = "\1" + litdata_u32s({257});
  for (int i = 0; i < 257; ++i) many += text("");
  ShardNotes notes;
  EXPECT_EQ(one_sample({{"label", "int"}, {"t", "json"}, {"n", "str"}}, {litdata_int(1), many, "x"}, &notes),
            "chunk-0-7/00000000 1 n=x");
  ASSERT_THAT(notes.problems, SizeIs(1));
  EXPECT_THAT(notes.problems.front(), HasSubstr("in 't'"));
}

TEST(LitDataFormat, RefusesFramesThatDoNotHoldTheItems) {
  const std::string list = litdata_list(kLitLeaves, {}), good = litdata_chunk_of_frames(three_items(), 2);
  constexpr std::size_t kEndsAt = 24, kFramesAt = kEndsAt + 16;
  const auto with_number = [&](std::size_t at, std::uint32_t number) {
    std::string changed = good;
    return changed.replace(at, 4, litdata_u32s({number}));
  };
  EXPECT_THAT(litdata_refusal(list, good + "x"), HasSubstr("end before its frames do"));
  EXPECT_THAT(litdata_refusal(list, with_number(8, 2)), HasSubstr("version 2"));
  EXPECT_THAT(litdata_refusal(list, with_number(20, 0xffffffff)), HasSubstr("truncated"));
  EXPECT_THAT(litdata_refusal(list, with_number(kEndsAt, 1)), HasSubstr("first item"));
  for (const std::size_t field : {0U, 4U, 8U, 12U}) {
    EXPECT_THAT(litdata_refusal(list, with_number(kFramesAt + field, 4)), HasSubstr("item 0 and byte")) << field;
  }
  EXPECT_THAT(litdata_refusal(list, with_number(kFramesAt + 20, 0xffffffff)), HasSubstr("the limit is"));
  EXPECT_THAT(litdata_refusal(list, with_number(kEndsAt + 8, 1000)), HasSubstr("item 1"));
}

TEST(LitDataFormat, RefusesOffsetsThatLie) {
  const std::string list = litdata_list(kLitLeaves, {{"chunk-0-7.bin", 3}}), good = litdata_chunk(three_items());
  const auto with_number = [&](std::size_t at, std::uint32_t number) {
    std::string changed = good;
    return changed.replace(at, 4, litdata_u32s({number}));
  };
  EXPECT_THAT(litdata_refusal(list, with_number(0, 0xffffffff)), HasSubstr("truncated"));
  EXPECT_THAT(litdata_refusal(list, with_number(4, 12)), HasSubstr("damaged"));
  EXPECT_THAT(litdata_refusal(list, with_number(8, 0)), HasSubstr("item 0"));
  EXPECT_THAT(litdata_refusal(list, with_number(12, 0xffffffff)), HasSubstr("item 1"));
  EXPECT_THAT(litdata_refusal(list, good + "x"), HasSubstr("its last item ends"));
  EXPECT_THAT(litdata_refusal(list, good + "table\6\0\0\0LDARW01\0"s),
              HasSubstr("table of Arrow is said to have 6 bytes"));
  EXPECT_THAT(litdata_refusal(list, good + "a table.\10\0\0\0LDARW01\0"s), HasSubstr("table of Arrow"));
  for (const std::uint32_t size : {0U, 1U, 0x7fffffffU, 0xffffffffU}) {  // of the first value
    EXPECT_THAT(litdata_refusal(list, with_number(20, size)), HasSubstr("sample 0"));
  }
  const std::string other = litdata_list(kLitLeaves, {{"chunk-0-7.bin", 4}});
  EXPECT_THAT(litdata_refusal(other, good), HasSubstr("has 3 samples, and the 'index.json' in its folder says 4"));
}

TEST(LitDataList, SaysWhatIsNotRead) {
  const std::string chunk = litdata_chunk(three_items());
  const auto refusal = [&](const std::string& more) {
    return litdata_refusal(litdata_list(kLitLeaves, {}, more), chunk);
  };
  EXPECT_THAT(refusal("\"encryption\": {\"level\": \"sample\"}"), HasSubstr("encrypted"));
  EXPECT_THAT(refusal("\"item_loader\": \"ParquetLoader\""), HasSubstr("\"ParquetLoader\""));
}

TEST(LitDataList, RefusesWhatContradictsItself) {
  const auto said = [](const std::string& json) {
    const Error error = error_of([&] { parse_litdata_list(as_bytes(json)); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.message();
  };
  const std::string good = litdata_list({{"a", "str"}, {"b", "int"}}, {{"chunk-0-0.bin", 1}});
  const auto with_text = [&](const std::string& from, const std::string& to) {
    std::string changed = good;
    EXPECT_NE(changed.find(from), std::string::npos) << from;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(said(with_text("\"str\",", "")), HasSubstr("1 serializers, for 2 values"));
  EXPECT_THAT(said(with_text("\"str\"", "5")), HasSubstr("not a text"));
  EXPECT_THAT(said(with_text("\"str\"", "\"no_header_numpy\"")), HasSubstr("which type"));
  EXPECT_THAT(said(with_text("\"[1,", "\"[2,")), HasSubstr("version 1"));
  EXPECT_THAT(said(with_text("children_spec", "children")), HasSubstr("'data_spec' is damaged"));
  EXPECT_THAT(said(with_text("chunk_size", "size")), HasSubstr("chunk 0 has no"));
  EXPECT_THAT(said(with_text("chunk-0-0.bin", "../0.bin")), HasSubstr("outside of the folder"));
  EXPECT_THAT(said(with_text("[\"str\",\"int\"]", "[]")), HasSubstr("1 to 4096"));
  std::string deep = R"({\"type\": null, \"context\": null, \"children_spec\": []})";
  for (int i = 0; i < 100; ++i) deep = R"({\"type\": \"builtins.list\", \"children_spec\": [)" + deep + "]}";
  EXPECT_THAT(said(R"({"chunks": [], "config": {"data_format": ["str"], "data_spec": "[1, )" + deep + "]\"}}"),
              HasSubstr("damaged"));
  for (const char* other : {"", "[]", "{}", R"({"chunks": []})", R"({"chunks": 1, "config": {"data_format": []}})"}) {
    EXPECT_FALSE(parse_litdata_list(as_bytes(std::string_view(other)))) << other;
  }
}

TEST(LitDataList, IsNoneWhoseNestingWouldExhaustTheStack) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_FALSE(parse_litdata_list(as_bytes(litdata_list(kLitLeaves, {}, "\"item_loader\": " + deep))));
  const auto list_with_tree = [](const std::string& tree) {
    return R"({"chunks": [], "config": {"data_format": ["str"], "data_spec": "[1, )" + tree + "]\"}}";
  };
  EXPECT_THAT(error_of([&] { parse_litdata_list(as_bytes(list_with_tree(deep))); }).message(),
              HasSubstr("not one of version 1"));
  const std::optional<LitDataList> list = parse_litdata_list(as_bytes(list_with_tree(
      R"({\"context\": \")" + deep + R"(\", \"children_spec\": [{\"context\": null, \"children_spec\": []}]})")));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->leaves.front().name, "0") << "as where the names are no list";
}

TEST(LitDataList, RefusesNamesWithoutEnd) {
  const std::string name(1 << 20, 'n');
  const Error error = error_of([&] { parse_litdata_list(as_bytes(litdata_list({{name, "str"}}, {}))); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("has 1048576 bytes; the limit is 4096"));
  const std::string dictionary = "\5" + litdata_u32s({1, 1 << 20}) + name + "\x0b";
  EXPECT_THAT(refusal_of_one({"v", "json"}, dictionary), HasSubstr("has 1048578 bytes; the limit is 4096"));
  const std::string records = "\6" + litdata_u32s({1, 1, 1 << 20}) + name + "\x14\1";
  EXPECT_THAT(refusal_of_one({"v", "json"}, records), HasSubstr("has 1048580 bytes; the limit is 4096"));
}

TEST(LitDataList, ListsChunksInItsOrder) {
  TempFolder folder;
  folder.write("chunk-1-0.bin", "12");
  folder.write("chunk-0-0.bin", "123");
  folder.write("index.json", litdata_list(kLitLeaves, {{"chunk-1-0.bin", 1}, {"chunk-0-0.bin", 1}}));
  const Location at = folder.path("");
  EXPECT_THAT(listed_litdata_chunks(Stores(), at), ElementsAre(at / "chunk-1-0.bin", at / "chunk-0-0.bin"));
  folder.write("index.json", litdata_list(kLitLeaves, {{"gone.bin", 1}}));
  EXPECT_EQ(error_of([&] { listed_litdata_chunks(Stores(), at); }).kind(), ErrorKind::kNotFound);
  folder.write("index.json", R"({"chunks": [{}], "config": {"data_format": ["str"]}})");
  EXPECT_THAT(error_of([&] { listed_litdata_chunks(Stores(), at); }).message(),
              HasSubstr("index.json' cannot be used"));
  folder.write("index.json", "no list");
  EXPECT_THAT(listed_litdata_chunks(Stores(), at), IsEmpty());
}

TEST(LitDataFormat, ReadsAChangedListAgain) {
  TempFolder folder;
  const LitDataFormat format;
  const Location at = folder.write("chunk-0-0.bin", "");
  const std::string bytes = litdata_chunk({litdata_item({"text"})});
  const auto field = [&] {
    MemorySource source("chunk-0-0.bin", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    const std::unique_ptr<ShardScan> scan = format.scan_at(Stores(), at, source, {});
    SampleRow row;
    EXPECT_TRUE(scan->next(row));
    return std::string(row.fields.front().name);
  };
  EXPECT_THAT(error_of(field).message(), HasSubstr("'chunk-0-0.bin' needs the 'index.json'"));
  folder.write("index.json", litdata_list({{"first", "str"}}, {}));
  EXPECT_EQ(field(), "first");
  folder.write("index.json", litdata_list({{"other", "str"}}, {}) + "\n");
  EXPECT_EQ(field(), "other");
}

TEST(LitDataFormat, KnowsTheNamesOfChunks) {
  const LitDataFormat format;
  for (const char* name : {"chunk-0-0.bin", "chunk-12-345.bin", "chunk-0-1.zstd.bin", "chunk-0-1.zstd:4.bin"}) {
    EXPECT_TRUE(format.is_shard_name(name)) << name;
  }
  for (const char* name :
       {"chunk-0.bin", "chunk--0.bin", "chunk-0-0.binary", "chunk-0-0.bin.sidx", "a.bin", "chunk-0-0"}) {
    EXPECT_FALSE(format.is_shard_name(name)) << name;
  }
}

}  // namespace
}  // namespace stoker
