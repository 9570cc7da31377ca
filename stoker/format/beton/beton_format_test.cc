#include "stoker/format/beton/beton_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/beton/beton_testing.h"
#include "stoker/format/scan_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::string_literals;

const std::string kBetonJpeg = "\xff\xd8\xffphotograph"s;
const std::vector<TestBetonField> kUsualFields = {{"image"}, {"label", BetonType::kInteger}};
constexpr std::size_t kFirstField = 24, kFieldSize = 1041;

/// "key label field=content ..." of each sample.
std::vector<std::string> beton_listing(const std::string& bytes, ShardNotes* notes = nullptr) {
  MemorySource source("data/val.beton", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  BetonSamples samples(source);
  return scan_listing(samples, notes);
}

std::string beton_refusal(const std::string& bytes) {
  const Error error = error_of([&] { beton_listing(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("'data/val.beton'"));
  return error.message();
}

template <typename Integer>
std::string with_number(std::string bytes, std::size_t at, Integer number) {
  store_little_endian(reinterpret_cast<std::uint8_t*>(bytes.data()) + at, number);
  return bytes;
}

std::string two_jpegs() {
  return beton_file(kUsualFields, {{{kBetonJpeg}, {beton_int(3)}}, {{kBetonJpeg + "2"}, {beton_int(-7)}}});
}

TEST(BetonFormat, FindsJpegsAndLabels) {
  ShardNotes notes;
  EXPECT_THAT(beton_listing(two_jpegs(), &notes),
              ElementsAre("val/00000000 3 jpg=" + kBetonJpeg, "val/00000001 -1 jpg=" + kBetonJpeg + "2"));
  EXPECT_EQ(notes.blocks, nullptr);
}

TEST(BetonFormat, TellsFieldsOfEveryType) {
  const std::string file = beton_file(
      {{"label", BetonType::kInteger},
       {"picture"},
       {"Text", BetonType::kBytes},
       {"weight", BetonType::kFloat},
       {"meta", BetonType::kJson},
       {"box", BetonType::kArray, "<f4", {2}},
       {"big", BetonType::kTensor, ">f4", {1}},
       {"n", BetonType::kInteger}},
      {{{beton_int(1)}, {kBetonJpeg}, {"words"}, {"8 bytes."}, {"{}\0"s}, {"floatval"}, {"4444"}, {beton_int(9)}}});
  EXPECT_THAT(beton_listing(file),
              ElementsAre("val/00000000 1 big=4444 box.f32=floatval jpg=" + kBetonJpeg +
                          " meta.json={} n.i64=" + beton_int(9) + " text=words weight.f64=8 bytes."));
}

TEST(BetonFormat, MakesRowsOfPicturesThatFollowEachOther) {
  std::vector<TestBetonSample> samples;
  for (const char pixel : {'a', 'b', 'c', 'd', 'e'}) {  // 5 of 120 bytes: four are in the first page
    samples.push_back({{std::string(120, pixel), true, 8, 5}, {beton_int(pixel - 'a')}});
  }
  samples.push_back({{"other.", true, 2, 1}, {beton_int(5)}});
  samples.push_back({{kBetonJpeg}, {beton_int(6)}});
  ShardNotes notes;
  const std::vector<std::string> lines = beton_listing(beton_file(kUsualFields, samples), &notes);
  ASSERT_THAT(lines, SizeIs(7));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_THAT(lines[i], HasSubstr(fmt::format("val/{0:08} {0} npy=\x93NUMPY", i)));
    EXPECT_THAT(lines[i], HasSubstr("'shape': (5, 8, 3), }"));
    EXPECT_TRUE(lines[i].ends_with("\n" + std::string(120, static_cast<char>('a' + i))));
  }
  EXPECT_TRUE(lines[5].ends_with("\nother."));
  EXPECT_EQ(lines[6], "val/00000006 6 jpg=" + kBetonJpeg);
  ASSERT_NE(notes.blocks, nullptr);
  EXPECT_EQ(notes.blocks->size(), 3U);
}

TEST(BetonFormat, TakesArraysOfBytesAsPictures) {
  const std::string file = beton_file({{"image", BetonType::kArray, "|u1", {2, 3}}}, {{{"abcdef"}}, {{"ghijkl"}}});
  const std::vector<std::string> lines = beton_listing(file);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1], HasSubstr("val/00000001 -1 npy=\x93NUMPY"));
  EXPECT_THAT(lines[1], HasSubstr("'shape': (2, 3), }"));
  EXPECT_TRUE(lines[1].ends_with("\nghijkl"));
}

TEST(BetonFormat, ReadsTheAllocationsOfSeveralWriters) {
  std::string file = two_jpegs();
  const std::string last = file.substr(file.size() - 24);  // of sample 1
  file = file.substr(0, file.size() - 48) + last + file.substr(file.size() - 48, 24);
  EXPECT_EQ(beton_listing(file), beton_listing(two_jpegs()));
}

TEST(BetonFormat, RefusesHeadersThatLie) {
  const std::string good = two_jpegs();
  EXPECT_THAT(beton_refusal(with_number(good, 0, std::uint16_t{1})), HasSubstr("version 1"));
  EXPECT_THAT(beton_refusal(with_number(good, 2, std::uint16_t{0})), HasSubstr("0 fields"));
  EXPECT_THAT(beton_refusal(with_number(good, 2, std::uint16_t{1000})), HasSubstr("truncated: its fields"));
  EXPECT_THAT(beton_refusal(with_number(good, 8, ~std::uint64_t{0})), HasSubstr("do not fit"));
  EXPECT_THAT(beton_refusal(with_number(good, 8, std::uint64_t{1})), HasSubstr("its 1 allocations end"));
  EXPECT_THAT(beton_refusal(with_number(good, 16, std::uint64_t{0})), HasSubstr("did not come to its end"));
  EXPECT_THAT(beton_refusal(with_number(good, 16, std::uint64_t{100})), HasSubstr("do not fit"));
  EXPECT_THAT(beton_refusal(with_number(good, 16, ~std::uint64_t{0})), HasSubstr("truncated: its pages"));
  EXPECT_THAT(beton_refusal(good + "x"), HasSubstr("its 2 allocations end"));
  EXPECT_THAT(beton_refusal(with_number(good, kFirstField, std::uint8_t{7})), HasSubstr("unknown type, 7"));
  EXPECT_THAT(beton_refusal(with_number(good, kFirstField, std::uint8_t{255})),
              HasSubstr("that the program which wrote it"));
  EXPECT_THAT(beton_refusal(with_number(good, kFirstField + 1, std::uint8_t{0})), HasSubstr("field 0 cannot be used"));
}

TEST(BetonFormat, RefusesTablesThatContradictEachOther) {
  const std::string good = two_jpegs();
  const std::size_t metadata = kFirstField + 2 * kFieldSize, allocations = good.size() - 48;
  EXPECT_THAT(beton_refusal(with_number(good, metadata, std::uint8_t{2})), HasSubstr("an unknown way, 2"));
  EXPECT_THAT(beton_refusal(with_number(good, metadata, std::uint8_t{1})), HasSubstr("0 x 0 pixels, and has 13 bytes"));
  EXPECT_THAT(beton_refusal(with_number(good, metadata + 5, std::uint64_t{0})), HasSubstr("sample 0 cannot be used"));
  EXPECT_THAT(beton_refusal(with_number(good, allocations, std::uint64_t{2})), HasSubstr("to be of sample 2"));
  EXPECT_THAT(beton_refusal(with_number(good, allocations, std::uint64_t{1})), HasSubstr("sample 1 has more"));
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{good.size()}, ~std::uint64_t{0}}) {
    EXPECT_THAT(beton_refusal(with_number(good, allocations + 8, number)), HasSubstr("allocation 0"));
  }
  EXPECT_THAT(beton_refusal(with_number(good, allocations + 16, ~std::uint64_t{0})), HasSubstr("allocation 0"));
  const std::string text = beton_file({{"a", BetonType::kJson}}, {{{"{}\0"s}}});
  EXPECT_THAT(beton_refusal(with_number(text, kFirstField + kFieldSize + 8, std::uint64_t{4})),
              HasSubstr("3 are allocated"));
  const std::string array = beton_file({{"a", BetonType::kArray, "<f4", {2}}}, {{{"floatval"}}});
  EXPECT_THAT(beton_refusal(with_number(array, kFirstField + 17, std::uint64_t{3})),
              HasSubstr("what its shape asks for"));
  EXPECT_THAT(beton_refusal(with_number(array, kFirstField + 17 + 256, std::uint64_t{1000})),
              HasSubstr("its type has"));
  EXPECT_THAT(beton_refusal(with_number(array, kFirstField + 17 + 264, std::uint8_t{'x'})),
              HasSubstr("type is damaged"));
}

TEST(BetonFormat, RefusesPicturesThatLieElsewhereThanTheirAllocations) {
  const std::string pixels(300, 'a');  // one picture a page
  const std::string good = beton_file({{"image"}}, {{{pixels, true, 10, 10}}, {{pixels, true, 10, 10}}});
  const std::size_t first = kFirstField + kFieldSize + 5, second = first + 13;
  const auto offset = load_little_endian<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(good.data()) + first);
  EXPECT_THAT(beton_refusal(with_number(good, second, offset + 300)), HasSubstr("sample 1"));  // as if in the same run
}

}  // namespace
}  // namespace stoker
