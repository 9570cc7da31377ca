#include "stoker/pack/pack_transform.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/base/words.h"
#include "stoker/codec/decode_memory.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/codec/npy.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

/// Of images that a decoder takes.
constexpr Word<Codec> kFieldNames[] = {{Codec::kJpeg, "jpg"},    {Codec::kPng, "png"},      {Codec::kWebp, "webp"},
                                       {Codec::kRaw, "npy"},     {Codec::kBmp, "bmp"},      {Codec::kGif, "gif"},
                                       {Codec::kTiff, "tif"},    {Codec::kJpeg2000, "jp2"}, {Codec::kAvif, "avif"},
                                       {Codec::kDatum, "datum"}, {Codec::kPnm, "pnm"}};

ChromaSubsampling subsampling_of(const ImageFacts& facts) {
  if (facts.codec == Codec::kJpeg && facts.chroma_across == 1) return ChromaSubsampling::k444;
  return facts.chroma_down == 1 && facts.codec == Codec::kJpeg ? ChromaSubsampling::k422 : ChromaSubsampling::k420;
}

void require_one_image(const SampleRow& row, const SampleField& image) {
  for (const SampleField& field : row.fields) {
    if (&field == &image || !is_image_field_name(field.name)) continue;
    fail(ErrorKind::kUsage,
         "it has the images '{}' and '{}', and packing would change only the first; pack without changing pixels, and "
         "let the recipe resize both",
         image.name, field.name);
  }
}

/// Pixels are called "npy"; a field of that name is an array of the user's own, which they would not be told from.
void require_name_for_pixels(const SampleRow& row, const SampleField& image) {
  const SampleField* const taken = row.field("npy");
  if (!taken || taken == &image) return;
  fail(ErrorKind::kUsage,
       "it already has a field 'npy' besides its image '{}', so raw pixels cannot have that name; pack without raw "
       "pixels, or rename the field",
       image.name);
}

}  // namespace

void PackTransform::apply(SweptSample& sample) {
  const SampleField* const image = sample.row.image_field();
  if (!image || !sample.row.facts) return;
  const auto field = static_cast<std::size_t>(image - sample.row.fields.data());
  const ImageFacts facts = *sample.row.facts;
  if (changes(facts)) {
    require_one_image(sample.row, *image);
    if (options_.raw) require_name_for_pixels(sample.row, *image);
    ImageView pixels = decoder_->decode_rgb(sample.fields[field], facts, {0, 0, facts.width, facts.height});
    if (facts.components == 1) pixels = pixels.plane(0);  // greys stay what they are
    if (shrinks(facts)) pixels = resized(pixels, size_of(facts));
    encode(pixels, facts, sample, field);
  }
  // A name that says what else the image is ("mask.png") stays, and so does one that another field would collide with.
  const std::string_view name = word_of(kFieldNames, sample.row.facts->codec);
  SampleField& renamed = sample.row.fields[field];
  const bool plain = renamed.name.find('.') == std::string_view::npos;
  if (plain && !sample.row.field(name)) renamed.name = name;
}

void PackTransform::ask_for_memory(const SweptSample& sample) {
  const SampleField* const image = sample.row.image_field();
  if (!image || !options_.changes_pixels()) return;
  try {
    const Bytes encoded = sample.fields[static_cast<std::size_t>(image - sample.row.fields.data())];
    const ImageFacts facts = decoder_->read_facts(encoded);
    const ImageSize made = shrinks(facts) ? size_of(facts) : ImageSize{facts.width, facts.height};
    if (changes(facts)) sample.turn->enter(memory_for(facts, encoded.size(), made));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadSample && error.kind() != ErrorKind::kLimit) throw;  // which is told elsewhere
  }
}

bool PackTransform::shrinks(const ImageFacts& facts) const {
  return options_.resize_short > 0 && std::min(facts.width, facts.height) > options_.resize_short;
}

void PackTransform::drop_scratch() {
  decoder_.emplace(limits_);
  resampler_ = Resampler();
  taps_x_ = taps_y_ = {};
  pixels_ = {};
}

/// About the most that is held at once, besides the sample as it was read.
std::uint64_t PackTransform::memory_for(const ImageFacts& facts, std::uint64_t encoded_bytes, ImageSize made) const {
  const auto area = [](int width, int height) {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  };
  const std::uint64_t pixels = 3 * area(made.width, made.height);
  // What an encoder makes is no longer than pixels are; PNG's is copied.
  std::uint64_t made_bytes = pixels;
  if (!options_.raw) made_bytes = facts.codec == Codec::kPng && !options_.quality ? 2 * pixels : pixels + pixels / 4;
  const std::uint64_t between =
      shrinks(facts) ? 4 * area(made.width, facts.height) : 0;  // of the resampler's two passes
  return decode_rgb_memory(facts, encoded_bytes, {0, 0, facts.width, facts.height}) + between + pixels + made_bytes;
}

/// Of an image that shrinks.
ImageSize PackTransform::size_of(const ImageFacts& facts) const {
  const int short_side = std::min(facts.width, facts.height);
  const double scale = static_cast<double>(options_.resize_short) / short_side;
  const auto scaled = [&](int side) {
    return side == short_side ? options_.resize_short : static_cast<int>(std::lround(side * scale));
  };
  return {scaled(facts.width), scaled(facts.height)};
}

ImageView PackTransform::resized(ImageView pixels, ImageSize size) {
  SamplingMap map = SamplingMap::identity(pixels.width, pixels.height);
  map.resize(size.width, size.height, Filter::kBicubic);
  build_taps(map.x, map.filter, taps_x_);
  build_taps(map.y, map.filter, taps_y_);
  const auto bytes = static_cast<std::size_t>(map.width()) * static_cast<std::size_t>(map.height()) *
                     static_cast<std::size_t>(pixels.channels);
  pixels_.resize(bytes);
  const MutableImageView out = interleaved_view(pixels_.data(), map.width(), map.height(), pixels.channels);
  resampler_.resample({pixels}, taps_x_, taps_y_, map.fill, out);
  return out;
}

ImageView PackTransform::interleaved(ImageView pixels) {
  if (pixels.interleaved()) return pixels;  // encoders want no others
  const auto count = static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) *
                     static_cast<std::size_t>(pixels.channels);
  pixels_.resize(count);
  const MutableImageView copy = interleaved_view(pixels_.data(), pixels.width, pixels.height, pixels.channels);
  for (int y = 0; y < pixels.height; ++y) {
    for (int x = 0; x < pixels.width; ++x) {
      for (int c = 0; c < pixels.channels; ++c) *copy.at(x, y, c) = *pixels.at(x, y, c);
    }
  }
  return copy;
}

void PackTransform::encode(ImageView pixels, const ImageFacts& facts, SweptSample& sample, std::size_t field) {
  if (options_.raw) {
    encode_npy(pixels, sample.made);
  } else if (facts.codec == Codec::kPng && !options_.quality) {
    encode_png(interleaved(pixels), sample.made, facts.orientation);
  } else {
    const JpegEncodeOptions jpeg{.quality = options_.quality.value_or(kDefaultQuality),
                                 .subsampling = subsampling_of(facts),
                                 .orientation = facts.orientation};
    encode_jpeg(interleaved(pixels), jpeg, sample.made);
  }
  sample.row.facts = decoder_->read_facts(sample.made);
  sample.entry_points.clear();
  decoder_->decodes_cleanly(sample.made, *sample.row.facts, sample.entry_points);
  sample.row.soundness = Soundness::kClean;
  sample.fields[field] = sample.made;
  SampleField& changed = sample.row.fields[field];
  changed.length = sample.made.size();
}

}  // namespace stoker
