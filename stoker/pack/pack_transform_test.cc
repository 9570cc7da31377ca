// Packs whose images are changed: raw, smaller, or encoded anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "stoker/base/error_testing.h"
#include "stoker/codec/plain_decode.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PackTransform : public PackOfTinyFolder {};

TEST_F(PackTransform, StoresRawPixelsThatDecodeToTheSame) {
  folder_.write("loose/c0000/grey.jpg", as_text(noisy_jpeg(40, 30, 5, {}, 1)));
  folder_.write("loose/c0000/colour.jpg", as_text(noisy_jpeg(50, 20, 6)));
  pack_to("raw", {.transform = {.raw = true}});
  const auto loose = open(source_), raw = open(folder_.path("raw"));
  ASSERT_EQ(keys(*raw), keys(*loose));
  for (std::int64_t i = 0; i < raw->size(); ++i) {
    const SampleRow row = raw->row(i);
    EXPECT_EQ(row.image_field()->name, "npy");
    const PlainImage want = decode_plain_rgb(as_bytes(read_field(loose->row(i), "image")));
    const PlainImage got = decode_plain_rgb(as_bytes(read_field(row, "image")));
    EXPECT_EQ(got.rgb, want.rgb);
    EXPECT_EQ(row.facts->codec, Codec::kRaw);
    EXPECT_EQ(row.facts->components, want.facts.components == 1 ? 1 : 3);
  }
}

TEST_F(PackTransform, ShrinksTheShortSideAndNeverEnlarges) {
  TempFolder other;
  other.write("in/a.jpg", as_text(noisy_jpeg(400, 300, 1)));
  other.write("in/b.jpg", as_text(noisy_jpeg(60, 50, 2)));
  other.write("in/c.png", as_text(noisy_png(90, 200, 3)));
  JpegEncodeOptions turned;
  turned.orientation = 6;
  other.write("in/d.jpg", as_text(noisy_jpeg(100, 120, 4, turned)));
  std::vector<std::uint8_t> png;
  const std::vector<std::uint8_t> pixels = noisy_pixels(90, 80, 3, 7);
  encode_png(interleaved_view(pixels.data(), 90, 80, 3), png, 8);
  other.write("in/e.png", as_text(png));
  pack({other.path("in")}, other.path("out"), {.transform = {.resize_short = 64}});
  const auto in = open(other.path("in")), out = open(other.path("out"));
  const auto size = [&](std::int64_t i) { return std::pair(out->row(i).facts->width, out->row(i).facts->height); };
  EXPECT_EQ(size(0), std::pair(85, 64));
  EXPECT_EQ(size(1), std::pair(60, 50));
  EXPECT_EQ(read_field(in->row(1), "image"), read_field(out->row(1), "image")) << "small ones stay as they are";
  EXPECT_EQ(size(2), std::pair(64, 142));
  EXPECT_EQ(out->row(2).image_field()->name, "png");
  EXPECT_EQ(size(3), std::pair(64, 77));
  EXPECT_EQ(size(4), std::pair(72, 64));
  EXPECT_EQ(out->row(4).facts->orientation, 8);
  EXPECT_EQ(out->row(3).facts->orientation, 6) << "the pixels are as stored, and so is the word on how to turn them";
}

TEST_F(PackTransform, EncodesAnewAtAQuality) {
  pack_to("q30", {.transform = {.quality = 30}});
  pack_to("q90", {.transform = {.quality = 90}});
  const auto low = open(folder_.path("q30")), high = open(folder_.path("q90"));
  EXPECT_EQ(low->row(0).image_field()->name, "jpg");
  EXPECT_LT(low->bytes(), high->bytes());
  EXPECT_THAT(error_of([&] { pack_to("x", {.transform = {.quality = 101}}); }).what(), HasSubstr("from 1 to 100"));
  EXPECT_EQ(error_of([&] { pack_to("x", {.transform = {.quality = 50, .raw = true}}); }).kind(), ErrorKind::kUsage);
}

TEST_F(PackTransform, LeavesOutWhatNoJpegCanHold) {
  TempFolder other;
  other.write("in/a.png", as_text(noisy_png(20, 10, 1)));
  other.write("in/b.png", as_text(noisy_png(65'501, 1, 2)));
  const PackOptions anew{.transform = {.quality = 50}};
  const PackResult packed = pack({other.path("in")}, other.path("out"), anew);
  EXPECT_EQ(packed.samples, 1);
  ASSERT_EQ(packed.bad.size(), 1u);
  EXPECT_THAT(packed.bad[0].reason, AllOf(HasSubstr("65501 x 1 pixels"), HasSubstr("at most 65500")));
  PackOptions strict = anew;
  strict.bad = BadSamplePolicy::kFail;
  EXPECT_THAT(error_of([&] { pack({other.path("in")}, other.path("x"), strict); }).what(), HasSubstr("sample 'b'"));
}

TEST_F(PackTransform, RefusesToChangeOneOfSeveralImages) {
  TempFolder other;
  other.write("in/a.png", as_text(noisy_png(90, 90, 1)));
  other.write("in/a.mask.png", as_text(noisy_png(90, 90, 2)));
  EXPECT_EQ(pack({other.path("in")}, other.path("as_is"), {}).samples, 1);
  const auto as_is = open(other.path("as_is"));
  EXPECT_TRUE(as_is->row(0).field("mask.png"));
  const Error error = error_of([&] { pack({other.path("in")}, other.path("x"), {.transform = {.resize_short = 32}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("mask.png"));
}

TEST_F(PackTransform, RefusesRawPixelsBesideAnArray) {
  TempFolder other;
  other.write("in/a.jpg", as_text(noisy_jpeg(20, 10, 1)));
  other.write("in/a.npy", "an embedding");
  const Error error = error_of([&] { pack({other.path("in")}, other.path("x"), {.transform = {.raw = true}}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("sample 'a'"), HasSubstr("already has a field 'npy'")));
  pack({other.path("in")}, other.path("as_is"), {.transform = {.quality = 50}});
  EXPECT_EQ(read_field(open(other.path("as_is"))->row(0), "npy"), "an embedding");
  // Raw pixels that are packed raw again are that field.
  pack_to("raw", {.transform = {.raw = true}});
  pack({folder_.path("raw")}, folder_.path("again"), {.transform = {.raw = true}});
  EXPECT_EQ(open(folder_.path("again"))->fingerprint(), open(folder_.path("raw"))->fingerprint());
}

}  // namespace
}  // namespace stoker
