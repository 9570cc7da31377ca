#include "stoker/codec/gif_decoder.h"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "stoker/base/error.h"

namespace stoker {
namespace {

void check_gif(bool good, int error) {
  if (good) return;
  if (error == D_GIF_ERR_NOT_ENOUGH_MEM) fail(ErrorKind::kMemory, "the machine has no memory left for a GIF image");
  const char* const reason = GifErrorString(error);
  fail(ErrorKind::kBadSample, "the GIF data cannot be decoded: {}",
       reason ? std::string_view(reason) : "it is damaged");
}

using GifPalette = std::array<std::array<std::uint8_t, 3>, 256>;

}  // namespace

/// A file that is read up to its first frame.
class GifReader {
 public:
  explicit GifReader(Bytes encoded) : left_(encoded) {
    int error = D_GIF_ERR_READ_FAILED;
    file_ = DGifOpen(this, read, &error);
    check_gif(file_ != nullptr, error);
    try {
      find_frame();
    } catch (...) {
      close();
      throw;
    }
  }
  ~GifReader() { close(); }
  GifReader(const GifReader&) = delete;
  GifReader& operator=(const GifReader&) = delete;

  GifFileType& file() { return *file_; }
  const GifImageDesc& frame() const { return file_->Image; }
  /// A frame that leaves the screen makes it larger.
  int width() const { return std::max<int>(file_->SWidth, frame().Left + frame().Width); }
  int height() const { return std::max<int>(file_->SHeight, frame().Top + frame().Height); }
  void check(int status) const { check_gif(status == GIF_OK, file_->Error); }

  /// The frame's own palette or the file's; without either, or where it is too short for a ramp of greys, greys.
  GifPalette palette() const {
    const ColorMapObject* const map = frame().ColorMap ? frame().ColorMap : file_->SColorMap;
    const std::size_t known = map ? static_cast<std::size_t>(std::clamp(map->ColorCount, 0, 256)) : 0;
    GifPalette colors{};
    bool greys = true;
    for (std::size_t i = 0; i < known; ++i) {
      const GifColorType& color = map->Colors[i];
      colors[i] = {color.Red, color.Green, color.Blue};
      greys = greys && color.Red == i && color.Green == i && color.Blue == i;
    }
    for (std::size_t i = known; greys && i < 256; ++i) colors[i].fill(static_cast<std::uint8_t>(i));
    return colors;
  }
  /// The index of what lies around the frame.
  std::uint8_t background() const { return background_; }

  /// Throws unless the frame's data go on to their end.
  void pass_over_frame() {
    int size = 0;
    GifByteType* block = nullptr;
    for (check(DGifGetCode(file_, &size, &block)); block; check(DGifGetCodeNext(file_, &block))) {
    }
  }

 private:
  static int read(GifFileType* file, GifByteType* into, int count) {
    Bytes& left = static_cast<GifReader*>(file->UserData)->left_;
    const std::size_t given = std::min(left.size(), static_cast<std::size_t>(std::max(count, 0)));
    if (given > 0) std::memcpy(into, left.data(), given);
    left = left.subspan(given);
    return static_cast<int>(given);
  }

  void find_frame() {
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      check(DGifGetRecordType(file_, &type));
      if (type == IMAGE_DESC_RECORD_TYPE) break;
      if (type == TERMINATE_RECORD_TYPE) fail(ErrorKind::kBadSample, "the GIF has no frame");
      if (type == EXTENSION_RECORD_TYPE) read_extension();
    }
    check(DGifGetImageDesc(file_));
    if (frame().Width < 1 || frame().Height < 1) fail(ErrorKind::kBadSample, "the GIF's first frame has no pixels");
  }

  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    check(DGifGetExtension(file_, &code, &block));
    if (code == GRAPHICS_EXT_FUNC_CODE && block && block[0] >= 4 && (block[1] & 1)) background_ = block[4];
    while (block) check(DGifGetExtensionNext(file_, &block));
  }

  void close() {
    int error = 0;
    DGifCloseFile(file_, &error);  // says that the file was closed early, which it was
  }

  Bytes left_;
  GifFileType* file_ = nullptr;
  std::uint8_t background_ = 0;
};

namespace {

/// The line in which an interlaced frame's row of this number, as stored, is shown.
class GifLines {
 public:
  GifLines(int height, bool interlaced) : height_(height), step_(interlaced ? 8 : 1) {}
  int next() {
    while (line_ >= height_ && pass_ < 3) {
      line_ = 4 >> pass_;
      step_ = pass_ == 0 ? 8 : 8 >> pass_;
      ++pass_;
    }
    const int line = line_;
    line_ += step_;
    return line;
  }

 private:
  int height_, step_, line_ = 0, pass_ = 0;
};

void put_colors(const std::uint8_t* indices, std::size_t count, const GifPalette& palette, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) out = std::copy_n(palette[indices[i]].begin(), 3, out);
}

}  // namespace

ImageFacts GifDecoder::read_facts(Bytes encoded) {
  GifReader reader(encoded);
  reader.pass_over_frame();
  return {.codec = Codec::kGif, .width = reader.width(), .height = reader.height(), .components = 3};
}

ImageView GifDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  GifReader reader(encoded);
  check_decode_request(facts, reader.width(), reader.height(), window);
  const std::uint8_t* const indices = decode_indices(reader);
  const GifPalette palette = reader.palette();
  const auto width = static_cast<std::size_t>(window.width);
  std::uint8_t* const pixels = pixels_.bytes(3 * width * static_cast<std::size_t>(window.height));
  for (int y = 0; y < window.height; ++y) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(window.y + y) * facts.width + window.x;
    put_colors(indices + first, width, palette, pixels + 3 * width * static_cast<std::size_t>(y));
  }
  return interleaved_view<const std::uint8_t>(pixels, window.width, window.height, 3);
}

MaskPixels GifDecoder::decode_numbers(Bytes encoded, const ImageFacts& facts) {
  GifReader reader(encoded);
  check_decode_request(facts, reader.width(), reader.height(), {0, 0, facts.width, facts.height});
  return {.width = facts.width, .height = facts.height, .numbers = decode_indices(reader)};
}

const std::uint8_t* GifDecoder::decode_indices(GifReader& reader) {
  const GifImageDesc& frame = reader.frame();
  const auto width = static_cast<std::size_t>(reader.width()), height = static_cast<std::size_t>(reader.height());
  std::uint8_t* const indices = indices_.bytes(width * height);
  if (frame.Width != reader.width() || frame.Height != reader.height()) {
    std::fill_n(indices, width * height, reader.background());
  }
  GifLines lines(frame.Height, frame.Interlace);
  for (int i = 0; i < frame.Height; ++i) {
    const auto y = static_cast<std::size_t>(frame.Top + lines.next());
    reader.check(DGifGetLine(&reader.file(), indices + y * width + static_cast<std::size_t>(frame.Left), frame.Width));
  }
  return indices;
}

}  // namespace stoker
