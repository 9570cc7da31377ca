#include "stoker/codec/jpeg2000/jpeg2000_decoder.h"

#include <openjpeg.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "stoker/base/error.h"
#include "stoker/codec/cmyk.h"
#include "stoker/codec/jpeg2000/jpeg2000_file.h"

namespace stoker {
namespace {

constexpr OPJ_SIZE_T kStreamBytes = 64 << 10;

/// openjpeg's objects for one image, and what it says.
class OpenjpegSession {
 public:
  explicit OpenjpegSession(Bytes codestream) : codestream_(codestream) {
    errno = 0;
    codec_.reset(opj_create_decompress(OPJ_CODEC_J2K));
    stream_.reset(opj_stream_create(kStreamBytes, OPJ_TRUE));
    require(codec_ && stream_);
    opj_set_error_handler(codec_.get(), note_error, this);
    opj_set_warning_handler(codec_.get(), note_warning, this);
    opj_stream_set_user_data(stream_.get(), this, nullptr);
    opj_stream_set_user_data_length(stream_.get(), codestream.size());
    opj_stream_set_read_function(stream_.get(), read);
    opj_stream_set_skip_function(stream_.get(), skip);
    opj_stream_set_seek_function(stream_.get(), seek);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    require(opj_setup_decoder(codec_.get(), &parameters) == OPJ_TRUE);
    opj_codec_set_threads(codec_.get(), 0);  // whatever the environment says
  }
  OpenjpegSession(const OpenjpegSession&) = delete;
  OpenjpegSession& operator=(const OpenjpegSession&) = delete;

  /// Lasts as long as this.
  const opj_image_t& decode() {
    opj_image_t* image = nullptr;
    const bool read = opj_read_header(stream_.get(), codec_.get(), &image) == OPJ_TRUE;
    image_.reset(image);
    require(read && image_ && opj_decode(codec_.get(), stream_.get(), image_.get()) == OPJ_TRUE);
    return *image_;
  }
  bool has_warned() const { return warned_; }

 private:
  static OpenjpegSession& of(void* self) { return *static_cast<OpenjpegSession*>(self); }

  static void note_error(const char* text, void* self) {
    if (of(self).error_.empty()) of(self).error_ = text;
  }
  static void note_warning(const char*, void* self) { of(self).warned_ = true; }

  static OPJ_SIZE_T read(void* into, OPJ_SIZE_T count, void* self) {
    OpenjpegSession& session = of(self);
    const std::size_t given = std::min(count, session.codestream_.size() - session.at_);
    if (given == 0) return static_cast<OPJ_SIZE_T>(-1);
    std::memcpy(into, session.codestream_.data() + session.at_, given);
    session.at_ += given;
    return given;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* self) {
    OpenjpegSession& session = of(self);
    const auto left = static_cast<OPJ_OFF_T>(session.codestream_.size() - session.at_);
    if (count < 0 || count > left) return -1;
    session.at_ += static_cast<std::size_t>(count);
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    OpenjpegSession& session = of(self);
    if (to < 0 || static_cast<std::size_t>(to) > session.codestream_.size()) return OPJ_FALSE;
    session.at_ = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  }

  void require(bool good) {
    if (good) return;
    if (errno == ENOMEM) fail(ErrorKind::kMemory, "the machine has no memory left for a JPEG 2000 image");
    while (!error_.empty() && error_.back() == '\n') error_.pop_back();
    fail(ErrorKind::kBadSample, "the JPEG 2000 data cannot be decoded: {}", error_.empty() ? "it is damaged" : error_);
  }

  Bytes codestream_;
  std::size_t at_ = 0;
  std::string error_;
  bool warned_ = false;
  std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec_{nullptr, opj_destroy_codec};
  std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream_{nullptr, opj_stream_destroy};
  std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> image_{nullptr, opj_image_destroy};
};

/// Samples of a component as bytes, at places of the image.
class Component {
 public:
  Component(const opj_image_t& image, int number, const Jpeg2000Component& told)
      : component_(image.comps[number]),
        bits_(told.bits),
        offset_(told.is_signed ? 1 << (told.bits - 1) : 0),
        first_column_(image.x0),
        first_row_(image.y0) {
    const bool fits = component_.data && component_.prec == static_cast<OPJ_UINT32>(told.bits) && component_.w > 0 &&
                      component_.h > 0 && component_.dx == static_cast<OPJ_UINT32>(told.across) &&
                      component_.dy == static_cast<OPJ_UINT32>(told.down);
    if (!fits) fail(ErrorKind::kBadSample, "the JPEG 2000 data cannot be decoded: a component is missing");
  }

  /// As stored, from 0.
  int sample(int x, int y) const {
    const OPJ_UINT32 column = std::min(
        (first_column_ + static_cast<OPJ_UINT32>(x)) / component_.dx - first_column_ / component_.dx, component_.w - 1);
    const OPJ_UINT32 row = std::min(
        (first_row_ + static_cast<OPJ_UINT32>(y)) / component_.dy - first_row_ / component_.dy, component_.h - 1);
    const int value = component_.data[std::size_t{row} * component_.w + column] + offset_;
    return std::clamp(value, 0, (1 << bits_) - 1);
  }
  std::uint8_t byte(int x, int y) const {
    const int value = sample(x, y);
    return static_cast<std::uint8_t>(bits_ >= 8 ? value >> (bits_ - 8) : value * 255 / ((1 << bits_) - 1));
  }

 private:
  const opj_image_comp_t& component_;
  int bits_, offset_;
  OPJ_UINT32 first_column_, first_row_;
};

std::uint8_t clamped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

// As Pillow converts: the factors of JFIF in 64ths.
void put_ycc(int luma, int blue, int red, std::uint8_t* out) {
  const auto scaled = [](double factor, int chroma) { return static_cast<int>(factor * 64 * (chroma - 128)); };
  out[0] = clamped(luma + (scaled(1.402, red) >> 6));
  out[1] = clamped(luma + ((scaled(-0.344136, blue) + scaled(-0.714136, red)) >> 6));
  out[2] = clamped(luma + (scaled(1.772, blue) >> 6));
}

}  // namespace

ImageFacts Jpeg2000Decoder::read_facts(Bytes encoded) {
  const Jpeg2000Image image = read_jpeg2000(encoded);
  const bool palette = image.colors == Jpeg2000Colors::kPalette;
  return {.codec = Codec::kJpeg2000,
          .width = image.width,
          .height = image.height,
          .components = palette ? image.components + 2 : image.components,
          .bits_per_component = palette ? 8 : image.component[0].bits};
}

ImageView Jpeg2000Decoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const Jpeg2000Image image = read_jpeg2000(encoded);
  check_decode_request(facts, image.width, image.height, window);
  OpenjpegSession session(image.codestream);
  const opj_image_t& decoded = session.decode();
  concealed_ = session.has_warned();
  if (decoded.numcomps != static_cast<OPJ_UINT32>(image.components)) {
    fail(ErrorKind::kBadSample, "the JPEG 2000 data cannot be decoded: a component is missing");
  }
  const Component first(decoded, 0, image.component[0]);
  const bool grey = image.components <= 2;
  const int second_at = grey ? 0 : 1, third_at = grey ? 0 : 2, last_at = image.components - 1;
  const auto component = [&](int number) {
    return Component(decoded, number, image.component[static_cast<std::size_t>(number)]);
  };
  const Component second = component(second_at), third = component(third_at), last = component(last_at);
  std::uint8_t* const pixels =
      pixels_.bytes(4 * static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.height));
  std::uint8_t* out = pixels;
  for (int y = window.y; y < window.y + window.height; ++y) {
    for (int x = window.x; x < window.x + window.width; ++x) {
      switch (image.colors) {
        case Jpeg2000Colors::kGrey: out = std::fill_n(out, 3, first.byte(x, y)); break;
        case Jpeg2000Colors::kPalette: {
          const int index = std::min(first.sample(x, y), image.palette_entries - 1);
          out = std::copy_n(image.palette[static_cast<std::size_t>(index)].begin(), 3, out);
          break;
        }
        case Jpeg2000Colors::kYcc:
          put_ycc(first.byte(x, y), second.byte(x, y), third.byte(x, y), out);
          out += 3;
          break;
        case Jpeg2000Colors::kRgb:
          *out++ = first.byte(x, y);
          *out++ = second.byte(x, y);
          *out++ = third.byte(x, y);
          break;
        case Jpeg2000Colors::kCmyk:
          for (const Component* ink : {&first, &second, &third, &last})
            *out++ = static_cast<std::uint8_t>(255 - ink->byte(x, y));
          break;
      }
    }
  }
  if (image.colors == Jpeg2000Colors::kCmyk) {
    inverted_cmyk_to_rgb_in_place(pixels,
                                  static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.height));
  }
  return interleaved_view<const std::uint8_t>(pixels, window.width, window.height, 3);
}

bool Jpeg2000Decoder::decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>&) {
  decode_rgb(encoded, facts, {0, 0, facts.width, facts.height});
  return !concealed_;
}

}  // namespace stoker
