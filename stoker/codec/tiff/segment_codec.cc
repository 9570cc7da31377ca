#include "stoker/codec/tiff/segment_codec.h"

#include <tiffio.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "stoker/base/error.h"

namespace stoker {
namespace {

/// A TIFF file without pixels: of one strip that has the shape of the image's segments.
class TiffHeaderWriter {
 public:
  TiffHeaderWriter(std::vector<std::uint8_t>& into, bool big_endian) : into_(into), big_endian_(big_endian) {
    into_.assign({0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    std::fill_n(into_.begin(), 2, big_endian ? 'M' : 'I');
    put(2, 42, 2);
    put(4, 8, 4);
  }

  /// In the order of their numbers.
  void add(std::uint16_t tag, std::uint32_t value) { append({tag, TIFF_LONG, 1, value}); }
  void add_bytes(std::uint16_t tag, Bytes bytes) {
    append({tag, TIFF_UNDEFINED, static_cast<std::uint32_t>(bytes.size()), 0});
    bytes_entry_ = into_.size() - 4;
    bytes_ = bytes;
  }
  void add_pair(std::uint16_t tag, int first, int second) {
    append({tag, TIFF_SHORT, 2, 0});
    put(into_.size() - 4, static_cast<std::uint32_t>(first), 2);
    put(into_.size() - 2, static_cast<std::uint32_t>(second), 2);
  }
  void finish() {
    put(8, entries_, 2);
    into_.resize(into_.size() + 4);  // no other directory
    if (bytes_.empty()) return;
    // Up to four bytes stand in the entry itself.
    if (bytes_.size() <= 4) {
      std::copy(bytes_.begin(), bytes_.end(), into_.begin() + static_cast<std::ptrdiff_t>(bytes_entry_));
    } else {
      put(bytes_entry_, static_cast<std::uint32_t>(into_.size()), 4);
      into_.insert(into_.end(), bytes_.begin(), bytes_.end());
    }
  }

 private:
  struct Entry {
    std::uint16_t tag;
    TIFFDataType type;
    std::uint32_t count, value;
  };

  void append(const Entry& entry) {
    const std::size_t at = into_.size();
    into_.resize(at + 12);
    put(at, entry.tag, 2);
    put(at + 2, entry.type, 2);
    put(at + 4, entry.count, 4);
    put(at + 8, entry.value, 4);
    ++entries_;
  }
  void put(std::size_t at, std::uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      into_[at + i] = static_cast<std::uint8_t>(value >> 8 * (big_endian_ ? bytes - 1 - i : i));
    }
  }

  std::vector<std::uint8_t>& into_;
  bool big_endian_;
  std::uint32_t entries_ = 0;
  std::size_t bytes_entry_ = 0;
  Bytes bytes_;
};

void write_tiff_header(const TiffImage& image, std::vector<std::uint8_t>& into) {
  TiffHeaderWriter header(into, image.big_endian);
  header.add(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image.segment_width));
  header.add(TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image.segment_height));
  header.add(TIFFTAG_BITSPERSAMPLE, static_cast<std::uint32_t>(image.bits));
  header.add(TIFFTAG_COMPRESSION, static_cast<std::uint32_t>(image.compression));
  // What the samples mean concerns the JPEG codec alone.
  const bool ycbcr = image.colors == TiffColors::kYcbcr;
  header.add(TIFFTAG_PHOTOMETRIC, ycbcr ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_MINISBLACK);
  header.add(TIFFTAG_STRIPOFFSETS, 8);
  header.add(TIFFTAG_SAMPLESPERPIXEL, static_cast<std::uint32_t>(image.samples_in_segment()));
  header.add(TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(image.segment_height));
  header.add(TIFFTAG_STRIPBYTECOUNTS, 1);
  if (image.compression == TiffCompression::kCcittGroup3) header.add(TIFFTAG_GROUP3OPTIONS, image.group3_options);
  if (image.differences) header.add(TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  if (!image.jpeg_tables.empty()) header.add_bytes(TIFFTAG_JPEGTABLES, image.jpeg_tables);
  if (ycbcr) header.add_pair(TIFFTAG_YCBCRSUBSAMPLING, image.jpeg_across, image.jpeg_down);
  header.finish();
}

}  // namespace

struct TiffSegmentCodec::Hooks {
  static TiffSegmentCodec& codec(thandle_t handle) { return *static_cast<TiffSegmentCodec*>(handle); }

  static tmsize_t read(thandle_t handle, void* into, tmsize_t count) {
    TiffSegmentCodec& self = codec(handle);
    const std::size_t left = self.header_.size() - std::min(self.at_, self.header_.size());
    const std::size_t given = std::min(left, static_cast<std::size_t>(std::max<tmsize_t>(count, 0)));
    if (given > 0) std::memcpy(into, self.header_.data() + self.at_, given);
    self.at_ += given;
    return static_cast<tmsize_t>(given);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return -1; }
  static toff_t seek(thandle_t handle, toff_t to, int whence) {
    TiffSegmentCodec& self = codec(handle);
    const std::size_t from = whence == SEEK_CUR ? self.at_ : whence == SEEK_END ? self.header_.size() : 0;
    self.at_ = from + static_cast<std::size_t>(to);
    return self.at_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return codec(handle).header_.size(); }

  // Nonzero: libtiff reports the error to no other handler.
  static int note_error(TIFF*, void* handle, const char*, const char* format, va_list values) {
    TiffSegmentCodec& self = codec(handle);
    if (self.error_[0] == 0) std::vsnprintf(self.error_.data(), self.error_.size(), format, values);
    return 1;
  }
  static int note_warning(TIFF*, void* handle, const char*, const char*, va_list) {
    codec(handle).warned_ = true;
    return 1;
  }
};

void TiffSegmentCodec::open(const TiffImage& image) {
  close();
  image_ = &image;
  at_ = 0;
  error_[0] = 0;
  write_tiff_header(image, header_);
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) fail(ErrorKind::kMemory, "the machine has no memory left for a TIFF image");
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), Hooks::note_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), Hooks::note_warning, this);
  // The codecs' tables, and some numbers for each column.
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), (tmsize_t{1} << 20) + tmsize_t{64} * image.segment_width);
  errno = 0;
  file_ = TIFFClientOpenExt("image", "rm", this, Hooks::read, Hooks::write, Hooks::seek, Hooks::close, Hooks::size,
                            nullptr, nullptr, options.get());
  if (!file_) give_up();
  if (image.colors == TiffColors::kYcbcr) TIFFSetField(file_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  error_[0] = 0;
  warned_ = false;  // about the header, which lacks what is not needed
}

void TiffSegmentCodec::decode(int segment, std::uint8_t* into) {
  const Bytes coded = in_order(image_->segment(segment));
  const std::size_t size = image_->row_bytes() * static_cast<std::size_t>(image_->rows_of(segment));
  std::memset(into, 0, size);  // fax data that end early leave rows as they are
  errno = 0;
  // libtiff does not change what it decodes, since no bits are to be reversed.
  const int good = TIFFReadFromUserBuffer(file_, 0, const_cast<std::uint8_t*>(coded.data()),
                                          static_cast<tmsize_t>(coded.size()), into, static_cast<tmsize_t>(size));
  if (!good || error_[0] != 0) give_up();
}

Bytes TiffSegmentCodec::in_order(Bytes segment) {
  if (!image_->bits_reversed) return segment;
  reversed_.resize(segment.size());
  std::transform(segment.begin(), segment.end(), reversed_.begin(), reversed_bits);
  return reversed_;
}

void TiffSegmentCodec::give_up() const {
  if (errno == ENOMEM) fail(ErrorKind::kMemory, "the machine has no memory left for a TIFF image");
  const std::string_view reason = error_.data();
  fail(ErrorKind::kBadSample, "the TIFF data cannot be decoded: {}", reason.empty() ? "it is damaged" : reason);
}

void TiffSegmentCodec::close() {
  if (file_) TIFFClose(file_);
  file_ = nullptr;
}

}  // namespace stoker
