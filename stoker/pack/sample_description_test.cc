#include "stoker/pack/sample_description.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "stoker/base/error_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/recordio/recordio_testing.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tar_testing.h"
#include "stoker/pack/data_info.h"
#include "stoker/pack/pack_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_view_literals;

/// "kind: shown", "..." where it is shortened; of images "kind codec width x height".
std::string text_of(const FieldDescription& field) {
  if (field.image) {
    return fmt::format("{}: {} {}x{}", to_string(field.kind), to_string(field.image->codec), field.image->width,
                       field.image->height);
  }
  return fmt::format("{}: {}{}", to_string(field.kind), field.shown, field.is_shortened ? "..." : "");
}

/// The fields of one sample of a tar, by name.
std::map<std::string, std::string> described(const std::map<std::string, std::string>& fields) {
  TempFolder folder;
  TarWriter tar(folder.path("in.tar"));
  for (const auto& [name, content] : fields) tar.add("a." + name, as_bytes(content));
  tar.finish();
  const DataInfo info = data_info({folder.path("in.tar")}, {.sample = 0});
  std::map<std::string, std::string> texts;
  for (const FieldDescription& field : info.sample->fields) texts[field.name] = text_of(field);
  return texts;
}

TEST(SampleDescription, TellsWhatFieldsHold) {
  const std::string png(as_text(noisy_png(8, 6, 1))), jpeg(as_text(noisy_jpeg(16, 24, 3)));
  const auto texts = described({{"jpg", jpeg},
                                {"mask", png},
                                {"broken.png", png.substr(0, 20)},
                                {"json", "{\"a\": [1, 2]}"},
                                {"list", "[1, 2]"},
                                {"bad.json", "{\"a\": "},
                                {"txt", "a b"},
                                {"empty", ""},
                                {"box.f32", std::string("\0\0\x80\x3f\0\0\x20\xc0"sv)},
                                {"n.i64", std::string("\xfe\xff\xff\xff\xff\xff\xff\xff"sv)},
                                {"small.i8", std::string("\xfe\x01"sv)},
                                {"good.u8", std::string("\xfe\x01"sv)},
                                {"tokens.u16", std::string("\x01\x80\xff\0"sv)},
                                {"near.i16", std::string("\x01\x80"sv)},
                                {"far.u32", std::string("\xff\xff\xff\xff"sv)},
                                {"further.u64", std::string("\xff\xff\xff\xff\xff\xff\xff\xff"sv)},
                                {"ids.varint", std::string("\x05\x80\x01"sv)},
                                {"odd.f32", std::string("\0\1\2"sv)},
                                {"bin", std::string("\0\xff\x10"sv)}});
  EXPECT_EQ(texts.at("jpg"), "image: jpeg 16x24");
  EXPECT_EQ(texts.at("mask"), "image: png 8x6");
  EXPECT_EQ(texts.at("broken.png"), "bytes: 89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52...");
  EXPECT_EQ(texts.at("json"), "json: {\"a\": [1, 2]}");
  EXPECT_EQ(texts.at("list"), "json: [1, 2]");
  EXPECT_EQ(texts.at("bad.json"), "text: {\"a\": ");
  EXPECT_EQ(texts.at("txt"), "text: a b");
  EXPECT_EQ(texts.at("empty"), "text: ");
  EXPECT_EQ(texts.at("box.f32"), "numbers: 1, -2.5");
  EXPECT_EQ(texts.at("n.i64"), "numbers: -2");
  EXPECT_EQ(texts.at("small.i8"), "numbers: -2, 1");
  EXPECT_EQ(texts.at("good.u8"), "numbers: 254, 1");
  EXPECT_EQ(texts.at("tokens.u16"), "numbers: 32769, 255");
  EXPECT_EQ(texts.at("near.i16"), "numbers: -32767");
  EXPECT_EQ(texts.at("far.u32"), "numbers: 4294967295");
  EXPECT_EQ(texts.at("further.u64"), "numbers: 18446744073709551615");
  EXPECT_EQ(texts.at("ids.varint"), "numbers: 5, 128");
  EXPECT_EQ(texts.at("odd.f32"), "bytes: 00 01 02");
  EXPECT_EQ(texts.at("bin"), "bytes: 00 ff 10");
}

TEST(SampleDescription, ShortensAndShowsTextSafely) {
  std::string long_text(99, 'x');
  long_text.append("\xc3\xa4").append(2'000'000, 'y');
  const auto texts = described({{"png", std::string(as_text(noisy_png(8, 8, 1)))},
                                {"long", long_text},
                                {"red", "\x1b[31mred text\nin two lines"},
                                {"latin", "caf\xe9 au lait"},
                                {"many.f32", std::string(400, '\0')}});
  EXPECT_EQ(texts.at("long"), "text: " + std::string(99, 'x') + "...") << "no half of a character";
  EXPECT_EQ(texts.at("red"), "text: \\x1b[31mred text\\nin two lines");
  EXPECT_EQ(texts.at("latin"), "bytes: 63 61 66 e9 20 61 75 20 6c 61 69 74") << "it is not UTF-8";
  EXPECT_EQ(texts.at("many.f32"), "numbers: 0, 0, 0, 0, 0, 0, 0, 0...");
}

TEST(SampleDescription, TellsKeysClassesAndPlaces) {
  TempFolder folder;
  const std::string loose = tiny_folder(folder, 12, 3);
  pack({loose}, folder.path("packed"), {.shard_bytes = 10'000});
  const DataInfo of_folder = data_info({loose}, {.sample = 7}),
                 of_pack = data_info({folder.path("packed")}, {.sample = 7});
  for (const DataInfo* info : {&of_folder, &of_pack}) {
    const SampleDescription& sample = *info->sample;
    EXPECT_EQ(sample.number, 7);
    EXPECT_EQ(sample.key, of_folder.sample->key);
    EXPECT_EQ(sample.label, of_folder.sample->label);
    EXPECT_THAT(sample.key, HasSubstr(sample.class_name + "/"));
    EXPECT_FALSE(sample.class_name.empty());
    EXPECT_EQ(sample.image, "png");
    const FieldDescription& png = sample.fields[0];
    EXPECT_EQ(read_file(png.place).substr(*png.offset + 1, 3), "PNG");
  }
  EXPECT_THAT(of_pack.sample->fields[0].place, Not(HasSubstr("shard-000000")));
  EXPECT_FALSE(data_info({loose}, {}).sample);
}

TEST(SampleDescription, KnowsNoPlaceOfWhatWasPutTogether) {
  TempFolder folder;
  const std::string odd = std::string(as_text(noisy_png(8, 8, 1))) + std::string(3, '\0') +
                          "\x0a\x23\xd7\xce"
                          "end";
  std::string aligned = odd;
  while (recordio_record(recordio_image({1}, 0, aligned)).size() ==
         recordio_part(0, recordio_image({1}, 0, aligned)).size()) {
    aligned.insert(aligned.size() - 7, 1, '\0');  // until the magic number lies where a record is split for it
  }
  folder.write("in.rec", recordio_record(recordio_image({1}, 0, aligned)));
  const DataInfo info = data_info({folder.path("in.rec")}, {.sample = 0});
  EXPECT_FALSE(info.sample->fields[0].offset);
  EXPECT_EQ(text_of(info.sample->fields[0]), "image: png 8x8");
}

TEST(SampleDescription, RefusesASampleThatIsNotThere) {
  TempFolder folder;
  const std::string loose = tiny_folder(folder, 12, 3);
  const Error error = error_of([&] { data_info({loose}, {.sample = 12}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("no sample 12: the data set has 12"));
}

}  // namespace
}  // namespace stoker
