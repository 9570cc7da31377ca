#include "stoker/format/mds/mds_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/mds/mds_folder.h"
#include "stoker/format/mds/mds_writer.h"
#include "stoker/format/scan_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::string_literals;

const std::string kMdsJpeg = "\xff\xd8\xffphotograph"s, kMdsPng = "\x89PNG\r\n\x1a\ndrawing"s;

std::string i64_text(std::int64_t number) {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, number);
  return std::string(as_text(bytes));
}

using Sample = std::vector<std::string>;

/// A shard of samples whose values stand in the order of the columns' names.
std::string shard_of(const std::vector<MdsColumnSpec>& columns, const std::vector<Sample>& samples) {
  TempFolder folder;
  MdsWriter writer(std::make_unique<AtomicFile>(folder.path("x.mds")), columns);
  for (const Sample& sample : samples) {
    std::vector<Bytes> values;
    for (const std::string& value : sample) values.push_back(as_bytes(value));
    writer.add(values);
  }
  const std::uint64_t bytes = writer.bytes();
  writer.finish();
  std::string file = read_file(folder.path("x.mds"));
  EXPECT_EQ(file.size(), bytes);
  return file;
}

/// "key label field=content ..." of each sample.
std::vector<std::string> mds_listing(const std::string& bytes, ShardNotes* notes = nullptr,
                                     const std::string& name = "data/shard.00007.mds") {
  MemorySource source(name, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  MdsSamples samples(source);
  return scan_listing(samples, notes);
}

std::string mds_refusal(const std::string& bytes, const std::string& name = "data/shard.00007.mds") {
  const Error error = error_of([&] { mds_listing(bytes, nullptr, name); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'" + name + "'"));
  return error.message();
}

std::string small_shard() {
  return shard_of({{"image", "jpeg"}, {"label", "int"}, {"note", "str"}},
                  {{kMdsJpeg, i64_text(1), "one"}, {kMdsJpeg, i64_text(-7), ""}});
}

TEST(MdsFormat, TellsColumnsByTheirNamesAndEncodings) {
  const std::string file = shard_of({{"Filename", "str"},
                                     {"cap/text", "str"},
                                     {"mask", "png"},
                                     {"meta", "json"},
                                     {"weight", "float32"},
                                     {"x", "jpeg"},
                                     {"y", "uint8"}},
                                    {{"n01/a.jpg", "cat", kMdsPng, "{}", "wght", kMdsJpeg, "\xc8"}});
  EXPECT_THAT(mds_listing(file), ElementsAre("n01/a 200 cap.text=cat filename=n01/a.jpg jpg=" + kMdsJpeg +
                                             " mask.png=" + kMdsPng + " meta.json={} weight.f32=wght"));
}

TEST(MdsFormat, NumbersSamplesWithoutAKey) {
  EXPECT_THAT(mds_listing(small_shard()), ElementsAre("shard_00007/00000000 1 jpg=" + kMdsJpeg + " note=one",
                                                      "shard_00007/00000001 -1 jpg=" + kMdsJpeg + " note="));
}

TEST(MdsFormat, ReadsLabelsOfEveryWidth) {
  const auto labels = [](const char* encoding, const std::string& value) {
    return mds_listing(shard_of({{"a", "bytes"}, {"label", encoding}}, {{"v", value}})).front();
  };
  EXPECT_EQ(labels("int16", "\x02\x01"), "shard_00007/00000000 258 a=v");
  EXPECT_EQ(labels("int8", "\xff"), "shard_00007/00000000 -1 a=v");
  EXPECT_EQ(labels("uint32", "\xff\xff\xff\xff"), "shard_00007/00000000 4294967295 a=v");
  EXPECT_EQ(labels("uint64", "\xff\xff\xff\xff\xff\xff\xff\xff"), "shard_00007/00000000 -1 a=v");
  EXPECT_EQ(labels("str_int", "12"), "shard_00007/00000000 12 a=v label=12");
}

TEST(MdsFormat, LocatesTheValuesOfArrays) {
  const std::string file = shard_of({{"a", "ndarray"}, {"b", "ndarray:int16"}, {"c", "ndarray:uint8:2,3"}},
                                    {{"\x22\x04\x02"s + "floatval", "\x09\x02\x00\x01\x00"s + "ghjk", "ABCDEF"}});
  EXPECT_THAT(mds_listing(file),
              ElementsAre("shard_00007/00000000 -1 a.f32=floatval a.shape.u8=\x02 b.i16=ghjk b.shape.u16="s +
                          "\x02\x00\x01\x00"s + " c.u8=ABCDEF"));
  EXPECT_THAT(mds_refusal(shard_of({{"a", "ndarray"}}, {{"\x05\x04\x02xx"}})), HasSubstr("unknown type, 5"));
  EXPECT_THAT(mds_refusal(shard_of({{"a", "ndarray"}}, {{"\x22\xfc"}})), HasSubstr("too short for its shape"));
  EXPECT_THAT(mds_refusal(shard_of({{"a", "ndarray"}}, {{""}})), HasSubstr("too short"));
}

TEST(MdsFormat, NeverLooksAtWhatWasPickled) {
  ShardNotes notes;
  const std::string file = shard_of({{"image", "bytes"}, {"obj", "pkl"}}, {{kMdsPng, "evil"}, {kMdsPng, "evil"}});
  EXPECT_THAT(mds_listing(file, &notes),
              ElementsAre("shard_00007/00000000 -1 png=" + kMdsPng, "shard_00007/00000001 -1 png=" + kMdsPng));
  ASSERT_THAT(notes.problems, SizeIs(1));
  EXPECT_THAT(notes.problems.front(), HasSubstr("'data/shard.00007.mds': skips what was pickled"));
  EXPECT_THAT(notes.problems.front(), HasSubstr("'obj'"));
}

TEST(MdsFormat, KeepsTheNamesOfSeveralImages) {
  const std::string file = shard_of({{"left", "jpeg"}, {"right", "png"}}, {{kMdsJpeg, kMdsPng}});
  EXPECT_THAT(mds_listing(file), ElementsAre("shard_00007/00000000 -1 left.jpg=" + kMdsJpeg + " right.png=" + kMdsPng));
}

TEST(MdsFormat, PutsNoOtherImageInThePlaceOfADamagedOne) {
  const std::string file = shard_of({{"image", "bytes"}, {"mask", "png"}},
                                    {{"", kMdsPng}, {kMdsJpeg, kMdsPng}, {"RIFFbroken", kMdsPng}, {"", kMdsPng}});
  EXPECT_THAT(mds_listing(file), ElementsAre("shard_00007/00000000 -1 image= mask=" + kMdsPng,
                                             "shard_00007/00000001 -1 jpg=" + kMdsJpeg + " mask.png=" + kMdsPng,
                                             "shard_00007/00000002 -1 jpg=RIFFbroken mask.png=" + kMdsPng,
                                             "shard_00007/00000003 -1 image= mask=" + kMdsPng));
}

TEST(MdsFormat, TakesListsOfImagesApart) {
  const std::string sizes = "\2\0\0\0\x0d\0\0\0\x0f\0\0\0"s, images = kMdsJpeg + kMdsPng, none(4, '\0');
  ASSERT_EQ(kMdsJpeg.size(), 13u);
  ASSERT_EQ(kMdsPng.size(), 15u);
  for (const char* encoding : {"jpeg_array", "jpegarray"}) {
    EXPECT_THAT(mds_listing(shard_of({{"views", encoding}}, {{sizes + images}})),
                ElementsAre("shard_00007/00000000 -1 views.0.jpg=" + kMdsJpeg + " views.1.png=" + kMdsPng));
  }
  EXPECT_THAT(mds_listing(shard_of({{"views", "list[png]"}}, {{none + sizes + images}})),
              ElementsAre("shard_00007/00000000 -1 views.0.jpg=" + kMdsJpeg + " views.1.png=" + kMdsPng));
  EXPECT_THAT(mds_listing(shard_of({{"views", "list[pil]"}}, {{none + "\1\0\0\0\3\0\0\0ppp"s}})),
              ElementsAre("shard_00007/00000000 -1 views.0.pil=ppp"));
  EXPECT_THAT(mds_listing(shard_of({{"views", "jpeg_array"}}, {{none}})),
              ElementsAre("shard_00007/00000000 -1 sample=\4\0\0\0"s + none))
      << "an empty list";
  EXPECT_THAT(mds_refusal(shard_of({{"views", "jpeg_array"}}, {{sizes + "short"}})), HasSubstr("5 are left"));
  EXPECT_THAT(mds_refusal(shard_of({{"views", "list[jpeg]"}}, {{"xy"}})), HasSubstr("in 0 bytes"));
}

TEST(MdsFormat, KeepsKeysApartWhoseFilesHaveDots) {
  const std::string file = shard_of({{"filename", "str"}}, {{"./v/video.0001.jpg"}, {"v/video.0002.jpg"}, {"v/x.jpg"}});
  EXPECT_THAT(mds_listing(file),
              ElementsAre("v/video.0001.jpg/image -1 filename=./v/video.0001.jpg",
                          "v/video.0002.jpg/image -1 filename=v/video.0002.jpg", "v/x -1 filename=v/x.jpg"));
}

/// As Snappy has bytes that it found no way to make smaller: in pieces, each with its length in front.
std::string snappy_plainly(std::string_view bytes) {
  constexpr std::size_t kPieceMax = 60;
  std::string out;
  std::size_t length = bytes.size();
  for (; length > 0x7f; length >>= 7) out += static_cast<char>((length & 0x7f) | 0x80);
  out += static_cast<char>(length);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPieceMax, bytes.size()))) {
    const std::string_view piece = bytes.substr(0, kPieceMax);
    out.append(1, static_cast<char>((piece.size() - 1) << 2)).append(piece);
  }
  return out;
}

TEST(MdsFormat, ReadsCompressedShards) {
  const std::string file = small_shard();
  const std::string zstd(as_text(compressed_by_zstd(as_bytes(file)))), snappy = snappy_plainly(file);
  for (const auto& [stored, name] : {std::pair(zstd, "shard.00007.mds.zstd"), {snappy, "shard.00007.mds.snappy"}}) {
    ShardNotes notes;
    EXPECT_EQ(mds_listing(stored, &notes, name), mds_listing(file)) << name;
    EXPECT_NE(notes.blocks, nullptr);
    for (std::size_t length = 0; length < stored.size(); ++length) mds_refusal(stored.substr(0, length), name);
  }
  EXPECT_THAT(mds_refusal("\x0b brotli", "shard.00007.mds.br"), HasSubstr("('br')"));
  EXPECT_THAT(mds_refusal(file, "shard.00007.mds.zstd"), HasSubstr("not compressed by zstd"));
}

TEST(MdsFormat, RefusesWhatAHeaderCannotSay) {
  const std::string file = small_shard();
  const auto with_number = [&](std::size_t at, std::uint32_t number) {
    std::string changed = file;
    store_little_endian(reinterpret_cast<std::uint8_t*>(changed.data()) + at, number);
    return changed;
  };
  EXPECT_THAT(mds_refusal(with_number(0, 0xffffffff)), HasSubstr("truncated"));
  EXPECT_THAT(mds_refusal(with_number(4, 0xffffffff)), HasSubstr("truncated"));
  EXPECT_THAT(mds_refusal(with_number(4, 12)), HasSubstr("damaged"));
  EXPECT_THAT(mds_refusal(with_number(8, 0)), HasSubstr("sample 0"));
  EXPECT_THAT(mds_refusal(with_number(12, 0xffffffff)), HasSubstr("truncated"));
  EXPECT_THAT(mds_refusal(file + "x"), HasSubstr("its last sample ends"));
}

TEST(MdsFormat, RefusesDescriptionsThatContradictThemselves) {
  const std::string file = small_shard();
  const auto with_text = [&](const std::string& from, const std::string& to) {
    std::string changed = file;
    EXPECT_EQ(from.size(), to.size());
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(mds_refusal(with_text("\"mds\"", "\"xds\"")), HasSubstr("'format'"));
  EXPECT_THAT(mds_refusal(with_text("null,8", "null,4")), HasSubstr("and not the 8 of 'int'"));
  EXPECT_THAT(mds_refusal(with_text(",8,null]", ",0,null]")), HasSubstr("any size"));
  EXPECT_THAT(mds_refusal(with_text("column_names", "column_namez")), HasSubstr("no list 'column_names'"));
  EXPECT_THAT(mds_refusal(with_text("{\"col", "[\"col")), HasSubstr("not a JSON object"));
}

/// A shard without samples that this text describes.
std::string described_shard(const std::string& text) {
  std::vector<std::uint8_t> head;
  append_little_endian(head, std::uint32_t{0});
  append_little_endian(head, static_cast<std::uint32_t>(8 + text.size()));
  return std::string(as_text(head)) + text;
}

TEST(MdsFormat, RefusesDescriptionsWithoutEnd) {
  const auto described = [](const std::string& name) {
    return described_shard(R"({"column_encodings": ["str"], "column_names": [")" + name +
                           R"("], "column_sizes": [null], "format": "mds"})");
  };
  EXPECT_THAT(mds_listing(described("note")), SizeIs(0));
  EXPECT_THAT(mds_refusal(described(std::string(1'000'000, 'n'))), HasSubstr("has 1000000 bytes; the limit is 4096"));
  EXPECT_THAT(mds_refusal(described_shard(R"({"x": )" + std::string(200'000, '[') + std::string(200'000, ']') + "}")),
              HasSubstr("not a JSON object"));
}

TEST(MdsFormat, StaysInsideTheSampleWhateverItsSizesAre) {
  const std::string good = small_shard();
  const std::size_t at = good.find(kMdsJpeg) - 8;
  for (const std::uint32_t size : {0U, 1U, 0x7fffffffU, 0xffffffffU}) {
    std::string changed = good;
    store_little_endian(reinterpret_cast<std::uint8_t*>(changed.data()) + at, size);
    EXPECT_THAT(mds_refusal(changed), HasSubstr("sample 0"));
  }
}

TEST(MdsWriter, SaysWhereSamplesLie) {
  TempFolder folder;
  MdsWriter writer(std::make_unique<AtomicFile>(folder.path("x.mds")), {{"b", "str"}, {"a", "int"}, {"c", "bytes"}});
  EXPECT_EQ(writer.columns().front().name, "a");
  const std::string number = i64_text(5), b = "first", c = "second";
  std::string samples;
  for (int i = 0; i < 3; ++i) {
    const Bytes sample = writer.add(std::vector<Bytes>{as_bytes(number), as_bytes(b), as_bytes(c)});
    EXPECT_THAT(as_text(sample), EndsWith(number + b + c));
    samples += as_text(sample);
  }
  const std::uint64_t begin = writer.offset_of_samples();
  writer.finish();
  EXPECT_EQ(read_file(folder.path("x.mds")).substr(begin), samples);
  EXPECT_EQ(error_of([&] {
              writer.add(std::vector<Bytes>{as_bytes(b), as_bytes(b), as_bytes(c)});
            }).kind(),
            ErrorKind::kUsage);
}

TEST(MdsFolder, ListsShardsInTheOrderOfTheIndex) {
  TempFolder folder;
  const std::vector<MdsColumn> columns = {mds_column("x", "jpeg")};
  folder.write("b/shard.00000.mds", "12");
  folder.write("a/shard.00000.mds", "123");
  const std::string index = mds_index(columns, {{"b/shard.00000.mds", 2, 1}, {"a/shard.00000.mds", 3, 1}});
  folder.write("index.json", index);
  const Location at = folder.path("");
  EXPECT_THAT(listed_mds_shards(Stores(), at), ElementsAre(at / "b/shard.00000.mds", at / "a/shard.00000.mds"));

  folder.write("a/shard.00000.mds", "1234");
  Error error = error_of([&] { listed_mds_shards(Stores(), at); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("a/shard.00000.mds' has 4 bytes"));
  folder.write("index.json", mds_index(columns, {{"gone.mds", 2, 1}}));
  EXPECT_EQ(error_of([&] { listed_mds_shards(Stores(), at); }).kind(), ErrorKind::kNotFound);
  folder.write("index.json", mds_index(columns, {{"../gone.mds", 2, 1}}));
  EXPECT_THAT(error_of([&] { listed_mds_shards(Stores(), at); }).message(), HasSubstr("outside of the folder"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  folder.write("index.json", R"({"shards": [{"format": "mds", "x": )" + deep + "}]}");
  EXPECT_THAT(listed_mds_shards(Stores(), at), SizeIs(0)) << "nesting that would exhaust the stack";
  for (const char* other : {"", "[]", "{}", "{\"shards\": []}", "{\"shards\": [{\"format\": \"json\"}]}", "no JSON"}) {
    folder.write("index.json", other);
    EXPECT_THAT(listed_mds_shards(Stores(), at), SizeIs(0)) << other;
  }
}

TEST(MdsFormat, KnowsTheNamesOfShards) {
  const MdsFormat format;
  for (const char* name : {"shard.00000.mds", "shard.00000.mds.zstd", "a.mds.gz", "a.mds.br"}) {
    EXPECT_TRUE(format.is_shard_name(name)) << name;
  }
  for (const char* name : {"mds", "a.mds.sidx", "a.zstd", "index.json"})
    EXPECT_FALSE(format.is_shard_name(name)) << name;
}

}  // namespace
}  // namespace stoker
