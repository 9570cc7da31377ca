#include "stoker/pack/data_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/codec/npy.h"
#include "stoker/format/tar_writer.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DataInfo, CountsTheSameFromAnIndexAndFromHeaders) {
  TempFolder folder;
  for (int i = 0; i < 5; ++i) folder.write(fmt::format("in/a/{}.jpg", i), as_text(noisy_jpeg(100 + i, 60, 1)));
  folder.write("in/b/progressive.jpg", as_text(noisy_jpeg(300, 200, 2, {.progressive = true})));
  folder.write("in/b/png.png", as_text(noisy_png(40, 40, 3)));
  folder.write("in/b/bad.jpg", "no picture");
  pack({folder.path("in")}, folder.path("out"), {.bad = BadSamplePolicy::kKeep});
  const DataInfo loose = data_info({folder.path("in")}, {}), packed = data_info({folder.path("out")}, {});
  for (const DataInfo* info : {&loose, &packed}) {
    EXPECT_EQ(info->samples, 8);
    EXPECT_EQ(info->classes, 2);
    EXPECT_EQ(info->codecs.at(Codec::kJpeg), 6);
    EXPECT_EQ(info->codecs.at(Codec::kPng), 1);
    EXPECT_EQ(info->images, 7);
    EXPECT_EQ(info->own_decoder, 5);
    EXPECT_EQ(info->width_max, 300);
    EXPECT_EQ(info->pixels, (100u + 101 + 102 + 103 + 104) * 60 + 300 * 200 + 40 * 40);
    ASSERT_EQ(info->problems.size(), 1u);
    EXPECT_THAT(info->problems[0], HasSubstr("b/bad"));
  }
  EXPECT_EQ(loose.image_bytes, packed.image_bytes);
  EXPECT_EQ(loose.indexed, 0);
  EXPECT_EQ(packed.indexed, 1);
  EXPECT_EQ(loose.short_sides.counts(), packed.short_sides.counts());
  EXPECT_EQ(loose.short_sides.counts().at(5), 6) << "from 32 to 63: five of 60 and one of 40";
  EXPECT_EQ(loose.short_sides.counts().at(7), 1);
}

TEST(DataInfo, GoesOnAfterShardsThatAreBroken) {
  TempFolder folder;
  pack({tiny_folder(folder, 4, 2)}, folder.path("out"), {.shard_bytes = 1});
  const std::string second = folder.path("out/shard-000001.tar"), third = folder.path("out/shard-000002.tar");
  const auto info = [&] { return data_info({folder.path("out")}, {}); };
  EXPECT_THAT(info().problems, ElementsAre());
  write_whole_file(second, as_bytes(std::string(fs::file_size(second), 'x')));
  ASSERT_TRUE(fs::remove(third));
  const DataInfo broken = info();
  EXPECT_EQ(broken.samples, 2);
  EXPECT_EQ(broken.shards, 4);
  EXPECT_EQ(broken.classes, 2);
  EXPECT_THAT(broken.problems, ElementsAre(HasSubstr(second), HasSubstr(third)));
  write_whole_file(second, as_bytes(std::string(fs::file_size(second), '\0')));  // a tar without members
  EXPECT_THAT(info().problems, ElementsAre(AllOf(HasSubstr(second), HasSubstr("manifest")), HasSubstr(third)));
  EXPECT_EQ(error_of([&] { data_info({folder.path("nothing")}, {}); }).kind(), ErrorKind::kNotFound);
}

/// Too large to be read whole without need.
std::string large(std::string bytes) {
  EXPECT_GT(bytes.size(), std::size_t{256} << 10);
  return bytes;
}

TEST(DataInfo, ReadsTheHeadsOfLargeImages) {
  TempFolder folder;
  folder.write("in/a.jpg", large(std::string(as_text(noisy_jpeg(900, 800, 1)))));
  folder.write("in/b.png", large(std::string(as_text(noisy_png(500, 400, 2)))));
  std::vector<std::uint8_t> array;
  const std::vector<std::uint8_t> pixels(std::size_t{6} << 20);
  encode_npy(interleaved_view(pixels.data(), 2048, 1024, 3), array);
  folder.write("in/c.npy", as_text(array));
  folder.write("in/c.png", as_text(noisy_png(8, 8, 1)));
  fs::resize_file(folder.path("in/c.npy"), std::uintmax_t{1} << 36);  // far more than memory, and nobody's business
  const DataInfo info = data_info({folder.path("in")}, {});
  EXPECT_THAT(info.problems, ElementsAre());
  EXPECT_EQ(info.samples, 3);
  EXPECT_EQ(info.pixels, 900u * 800 + 500 * 400 + 8 * 8);
  EXPECT_EQ(info.own_decoder, 1);

  TarWriter tar(folder.path("raw.tar"));
  tar.add("a.npy", array);
  tar.finish();
  EXPECT_EQ(data_info({folder.path("raw.tar")}, {}).pixels, 2048u * 1024);
}

TEST(DataInfo, FindsTheSameWrongWithLargeImagesAsWithSmallOnes) {
  TempFolder folder;
  const std::string jpeg(as_text(noisy_jpeg(900, 800, 1))), png(as_text(noisy_png(500, 400, 2)));
  folder.write("in/cut.jpg", large(jpeg.substr(0, jpeg.size() - 1000)));
  folder.write("in/cut2.png", large(png.substr(0, png.size() - 1000)));
  folder.write("in/end_in_the_middle.jpg", jpeg + std::string(100'000, 'x'));
  folder.write("in/long_header.jpg", jpeg.substr(0, 2) + std::string("\xff\xfe\xff\xff", 4) + std::string(0xfffd, 'c') +
                                         std::string("\xff\xfe\xff\xff", 4) + std::string(0xfffd, 'c') +
                                         jpeg.substr(2));
  folder.write("in/nothing.jpg", std::string(500'000, 'x'));
  const DataInfo info = data_info({folder.path("in")}, {});
  EXPECT_EQ(info.samples, 5);
  EXPECT_EQ(info.images, 2);
  EXPECT_THAT(info.problems, ElementsAre(AllOf(HasSubstr("'cut'"), HasSubstr("end-of-image")),
                                         AllOf(HasSubstr("'cut2'"), HasSubstr("truncated")),
                                         AllOf(HasSubstr("'nothing'"), HasSubstr("not a JPEG, PNG or WebP"))));
}

}  // namespace
}  // namespace stoker
