#include "stoker/pack/data_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/codec/npy.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/atomic_file.h"

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
    ASSERT_EQ(info->left_to_libjpeg.size(), 1u);
    EXPECT_EQ(info->left_to_libjpeg.at("progressive").count, 1);
    EXPECT_THAT(info->left_to_libjpeg.at("progressive").first, HasSubstr("b/progressive"));
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
  EXPECT_THAT(broken.problems,
              ElementsAre(AllOf(HasSubstr(second), HasSubstr("manifest")), HasSubstr(second), HasSubstr(third)));
  write_whole_file(second, as_bytes(std::string(fs::file_size(second), '\0')));  // a tar without members
  EXPECT_THAT(info().problems, ElementsAre(AllOf(HasSubstr(second), HasSubstr("manifest")), HasSubstr(third)));
  EXPECT_EQ(error_of([&] { data_info({folder.path("nothing")}, {}); }).kind(), ErrorKind::kNotFound);
}

TEST(DataInfo, CountsNoShardOfAPackThatIsNotFinished) {
  TempFolder folder;
  pack({tiny_folder(folder, 4, 2)}, folder.path("out"), {.shard_bytes = 1});
  ASSERT_TRUE(fs::remove(folder.path("out/manifest.json")));
  folder.write("out/.stoker-pack", "");
  const DataInfo info = data_info({folder.path("out/*.tar")}, {});
  EXPECT_EQ(info.samples, 0);
  EXPECT_EQ(info.problems.size(), 4u);
}

}  // namespace
}  // namespace stoker
