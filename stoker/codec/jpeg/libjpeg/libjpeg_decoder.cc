#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"

#include <algorithm>
#include <array>
#include <functional>

#include "stoker/codec/cmyk.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_errors.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

// A progressive file may repeat scans at will, each as dear as decoding a whole image; real files have about ten.
constexpr int kScansMax = 500;

// libjpeg hands out one row group per call: at most this many rows.
constexpr int kRowsPerCall = MAX_SAMP_FACTOR;

void refuse_scan_bombs(j_common_ptr object) {
  if (reinterpret_cast<j_decompress_ptr>(object)->input_scan_number > kScansMax) {
    LibjpegErrors::of(object).give_up(ErrorKind::kLimit, "it has more than 500 scans");
  }
}

JpegCoding coding_of(jpeg_decompress_struct& jpeg) {
  if (jpeg.arith_code) return JpegCoding::kArithmetic;
  if (jpeg.progressive_mode) return JpegCoding::kProgressive;
  return jpeg_has_multiple_scans(&jpeg) ? JpegCoding::kSequentialScans : JpegCoding::kSequential;
}

J_COLOR_SPACE pixels_of(const jpeg_decompress_struct& jpeg) { return jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB; }

JpegColors colors_of(const jpeg_decompress_struct& jpeg) {
  switch (jpeg.jpeg_color_space) {
    case JCS_GRAYSCALE: return JpegColors::kGrey;
    case JCS_YCbCr: return JpegColors::kYcbcr;
    case JCS_RGB: return JpegColors::kRgb;
    case JCS_CMYK: return JpegColors::kCmyk;
    case JCS_YCCK: return JpegColors::kYcck;
    default: return JpegColors::kNone;
  }
}

// --- The part of a file that must be decoded so that a window has the same bits as in the whole image

// Narrower regions are widened to this: below two chroma samples libjpeg replaces its upsampling by a simpler one, as
// it does for images of a few columns, and a narrow part of a wide image must not run into that.
constexpr int kColumnsMin = 32;

// Fancy horizontal upsampling makes luma columns 2m and 2m + 1 of chroma samples m - 1, m and m + 1. What is cropped
// away is missing on the left if the window begins at an even column, and on the right if it ends with an odd one.
constexpr int kColumnsBefore = 1, kColumnsAfter = 1;

struct Factors {
  int horizontal, vertical;
  friend bool operator==(const Factors&, const Factors&) = default;
};

// Components either as fine as the image or one sample per MCU: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, grey, and more. For
// these, tests prove every window. In other mixtures the components differ in how far their upsampling looks; they are
// rare enough to be decoded from the top, in full width.
bool usual_sampling(const jpeg_decompress_struct& jpeg) {
  const Factors largest{jpeg.max_h_samp_factor, jpeg.max_v_samp_factor};
  return std::all_of(jpeg.comp_info, jpeg.comp_info + jpeg.num_components, [&](const jpeg_component_info& component) {
    const Factors own{component.h_samp_factor, component.v_samp_factor};
    return own == largest || own == Factors{1, 1};
  });
}

// A progressive file that lacks scans is smoothed across block borders, at the edges of a cropped region too.
bool lacks_scans(const jpeg_decompress_struct& jpeg) {
  if (!jpeg.progressive_mode || !jpeg.coef_bits) return false;
  for (int component = 0; component < jpeg.num_components; ++component) {
    const int* const bits_missing = jpeg.coef_bits[component];
    if (std::any_of(bits_missing, bits_missing + DCTSIZE2, [](int bits) { return bits != 0; })) return true;
  }
  return false;
}

/// Skip `rows_skipped` rows, decode and forget `rows_discarded`, then decode the window's; of each row, `columns` from
/// `left`, which jpeg_crop_scanline moves further left, to where a block begins.
struct LibjpegWindow {
  int left = 0, columns = 0;
  int rows_skipped = 0, rows_discarded = 0;
};

/// For an image on which jpeg_start_decompress has been called, decoded with fancy upsampling.
LibjpegWindow plan_libjpeg_window(const jpeg_decompress_struct& jpeg, Rect window) {
  const int width = static_cast<int>(jpeg.image_width);
  if (!usual_sampling(jpeg) || lacks_scans(jpeg)) {
    return {.left = 0, .columns = width, .rows_skipped = 0, .rows_discarded = window.y};
  }
  const bool fancy = jpeg.max_h_samp_factor == 2;
  // One skip, from row 0: libjpeg-turbo goes wrong where a skip begins inside a row group (its issue 915).
  int left = std::max(0, window.x - (fancy ? kColumnsBefore : 0));
  const int right = std::min(width, window.x + window.width + (fancy ? kColumnsAfter : 0));
  left = std::max(0, std::min(left, right - kColumnsMin));
  return {.left = left,
          .columns = std::min(width, std::max(right, left + kColumnsMin)) - left,
          .rows_skipped = window.y,
          .rows_discarded = 0};
}

}  // namespace

struct LibjpegDecoder::Session {
  LibjpegErrors errors;
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct jpeg{};

  Session() {
    jpeg.err = errors.manager();
    progress.progress_monitor = refuse_scan_bombs;
  }
  ~Session() { jpeg_destroy_decompress(&jpeg); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs `work` (see LibjpegErrors::attempt); throws what libjpeg has to say.
  template <typename Work>
  void run(const Work& work) {
    if (errors.attempt(work)) return;
    jpeg_abort_decompress(&jpeg);  // gives the image's memory back
    fail(errors.kind(), "the JPEG data cannot be decoded: {}", errors.message());
  }
  /// A libjpeg object that has seen nothing yet: one used again would lend the last image's quantisation and Huffman
  /// tables to a file that lacks its own, and its pixels would depend on what was decoded before. Costs 0.3 us.
  void start_afresh() {
    jpeg_destroy_decompress(&jpeg);
    errors.forget();
    jpeg_create_decompress(&jpeg);
    jpeg.progress = &progress;
  }

  int width() const { return static_cast<int>(jpeg.image_width); }
  int height() const { return static_cast<int>(jpeg.image_height); }

  void read_rows(std::uint8_t* rows, std::size_t row_bytes, int count) {
    for (int done = 0; done < count;) {
      std::array<JSAMPROW, kRowsPerCall> pointers;
      const int wanted = std::min(count - done, kRowsPerCall);
      for (int i = 0; i < wanted; ++i) pointers[i] = rows + (done + i) * row_bytes;
      const int got = static_cast<int>(jpeg_read_scanlines(&jpeg, pointers.data(), static_cast<JDIMENSION>(wanted)));
      if (got == 0) errors.give_up(ErrorKind::kBadSample, "libjpeg makes no progress");
      done += got;
    }
  }
  void discard_rows(std::uint8_t* row, int count) {
    for (; count > 0; --count) read_rows(row, 0, 1);
  }
};

LibjpegDecoder::LibjpegDecoder() : session_(std::make_unique<Session>()) {}
LibjpegDecoder::~LibjpegDecoder() = default;

// Reads the header, up to the first scan's data.
void LibjpegDecoder::open(Bytes encoded) {
  jpeg_decompress_struct& jpeg = session_->jpeg;
  session_->run([&] {
    session_->start_afresh();
    jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.num_components == 2) session_->errors.give_up(ErrorKind::kBadSample, "it has two components");
  });
  // At the end of the bytes libjpeg makes up an end marker elsewhere in memory; a header that needed it is truncated.
  const std::uint8_t* const next = jpeg.src->next_input_byte;
  const bool within = !std::less<>()(next, encoded.data()) && !std::less<>()(encoded.data() + encoded.size(), next);
  if (!within || !has_jpeg_end(encoded, encoded.size() - jpeg.src->bytes_in_buffer)) {
    fail(ErrorKind::kBadSample, "the JPEG data has no end-of-image marker: the file is truncated or damaged");
  }
}

// Of one scan libjpeg decodes as much as it is asked for. What it would come upon later is either harmless, which the
// markers tell, or has to be tried. Several scans it reads to the end of the image before it shows anything.
void LibjpegDecoder::open_for_window(Bytes encoded) {
  open(encoded);
  jpeg_decompress_struct& jpeg = session_->jpeg;
  if (jpeg_has_multiple_scans(&jpeg)) return;
  if (leads_to_jpeg_end(encoded, encoded.size() - jpeg.src->bytes_in_buffer)) return;
  pass_to_end();
  open(encoded);
}

void LibjpegDecoder::start_decompress() {
  jpeg_decompress_struct& jpeg = session_->jpeg;
  session_->run([&] {
    jpeg_start_decompress(&jpeg);
    if (session_->errors.ran_out()) session_->errors.give_up(ErrorKind::kBadSample, "its scans have no end");
  });
}

bool LibjpegDecoder::pass_to_end() {
  jpeg_decompress_struct& jpeg = session_->jpeg;
  jpeg.out_color_space = pixels_of(jpeg);
  jpeg.dct_method = JDCT_IFAST;
  jpeg.do_fancy_upsampling = FALSE;
  start_decompress();
  std::uint8_t* const row =
      pixels_.bytes(std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components));
  session_->run([&] {
    session_->discard_rows(row, session_->height());
    jpeg_finish_decompress(&jpeg);
  });
  return jpeg.err->num_warnings == 0;
}

ImageFacts LibjpegDecoder::read_facts(Bytes encoded) {
  open(encoded);
  jpeg_decompress_struct& jpeg = session_->jpeg;
  const jpeg_component_info& chroma = jpeg.comp_info[jpeg.num_components > 1 ? 1 : 0];
  return {.codec = Codec::kJpeg,
          .width = session_->width(),
          .height = session_->height(),
          .components = jpeg.num_components,
          .bits_per_component = jpeg.data_precision,
          .orientation = jpeg_orientation(encoded),
          .coding = coding_of(jpeg),
          .colors = colors_of(jpeg),
          .chroma_across = jpeg.max_h_samp_factor / chroma.h_samp_factor,
          .chroma_down = jpeg.max_v_samp_factor / chroma.v_samp_factor};
}

bool LibjpegDecoder::decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>&) {
  open(encoded);
  check_decode_request(facts, session_->width(), session_->height(), {0, 0, facts.width, facts.height});
  return pass_to_end();
}

ImageView LibjpegDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  open_for_window(encoded);
  check_decode_request(facts, session_->width(), session_->height(), window);

  jpeg_decompress_struct& jpeg = session_->jpeg;
  jpeg.out_color_space = pixels_of(jpeg);
  const bool cmyk = jpeg.out_color_space == JCS_CMYK;
  jpeg.dct_method = JDCT_ISLOW;
  jpeg.do_fancy_upsampling = TRUE;

  LibjpegWindow plan;
  JDIMENSION left = 0, columns = 0;
  start_decompress();
  session_->run([&] {
    plan = plan_libjpeg_window(jpeg, window);
    left = static_cast<JDIMENSION>(plan.left);
    columns = static_cast<JDIMENSION>(plan.columns);
    jpeg_crop_scanline(&jpeg, &left, &columns);
  });

  const std::size_t channels = cmyk ? 4 : 3;
  const std::size_t row_bytes = columns * channels;
  std::uint8_t* const pixels = pixels_.bytes(row_bytes * static_cast<std::size_t>(window.height));
  session_->run([&] {
    jpeg_skip_scanlines(&jpeg, static_cast<JDIMENSION>(plan.rows_skipped));
    session_->discard_rows(pixels, plan.rows_discarded);
    session_->read_rows(pixels, row_bytes, window.height);
  });
  jpeg_abort_decompress(&jpeg);  // what follows the window is not read
  if (cmyk) inverted_cmyk_to_rgb_in_place(pixels, std::size_t{columns} * static_cast<std::size_t>(window.height));

  const ImageView region = interleaved_view<const std::uint8_t>(pixels, static_cast<int>(columns), window.height, 3);
  return region.crop({window.x - static_cast<int>(left), 0, window.width, window.height});
}

Planes LibjpegDecoder::plane_sizes(Bytes encoded, const ImageFacts&) {
  open(encoded);
  return plane_sizes();
}

// Grey and YCbCr files have planes if all of them are a whole number of times as coarse as the image.
Planes LibjpegDecoder::plane_sizes() const {
  const jpeg_decompress_struct& jpeg = session_->jpeg;
  const JpegColors colors = colors_of(jpeg);
  if (jpeg.data_precision != 8 || (colors != JpegColors::kGrey && colors != JpegColors::kYcbcr)) return {};
  Planes planes{.count = jpeg.num_components, .plane = {}};
  for (int c = 0; c < planes.count; ++c) {
    const jpeg_component_info& component = jpeg.comp_info[c];
    if (jpeg.max_h_samp_factor % component.h_samp_factor != 0) return {};
    if (jpeg.max_v_samp_factor % component.v_samp_factor != 0) return {};
    planes.plane[static_cast<std::size_t>(c)] =
        Plane::of(session_->width(), session_->height(), jpeg.max_h_samp_factor / component.h_samp_factor,
                  jpeg.max_v_samp_factor / component.v_samp_factor);
  }
  return planes;
}

// libjpeg hands out rows of MCUs; those that the window does not need go to the same memory again and again.
Planes LibjpegDecoder::decode_planes(Bytes encoded, const ImageFacts& facts, Rect window, Bytes, int shrink) {
  open_for_window(encoded);
  check_decode_request(facts, session_->width(), session_->height(), window);
  Planes planes = shrunk(plane_sizes(), session_->width(), session_->height(), shrink);
  if (planes.count == 0) return ImageDecoder::decode_planes(encoded, facts, window, {});
  jpeg_decompress_struct& jpeg = session_->jpeg;
  jpeg.raw_data_out = TRUE;
  jpeg.dct_method = JDCT_ISLOW;
  jpeg.scale_num = 1;
  jpeg.scale_denom = static_cast<unsigned>(shrink);
  start_decompress();

  const int mcu_height = jpeg.max_v_samp_factor * DCTSIZE;
  const int first = std::max(0, window.y - kPixelsBeside) / mcu_height;
  const int last = std::min(session_->height() - 1, window.y + window.height - 1 + kPixelsBeside) / mcu_height;
  std::size_t offsets[3] = {}, bytes = 0;
  for (int c = 0; c < planes.count; ++c) {
    const jpeg_component_info& component = jpeg.comp_info[c];
    Plane& plane = planes.plane[static_cast<std::size_t>(c)];
    const int rows = mcu_height / plane.down;  // of an MCU
    plane.y = first * rows;
    plane.width = plane.whole_width;
    plane.height = std::min(plane.whole_height, (last + 1) * rows) - plane.y;
    plane.row_stride = static_cast<std::ptrdiff_t>(component.width_in_blocks * DCTSIZE + kPlaneSlack);
    offsets[c] = bytes;
    bytes += static_cast<std::size_t>(plane.row_stride) * static_cast<std::size_t>((last + 1 - first) * rows);
  }
  std::uint8_t* const samples = pixels_.bytes(bytes + kPlaneSlack);
  session_->run([&] {
    for (int mcu_row = 0; mcu_row <= last; ++mcu_row) {
      JSAMPROW rows[3][MAX_SAMP_FACTOR * DCTSIZE];
      JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
      for (int c = 0; c < planes.count; ++c) {
        const int count = mcu_height / planes.plane[static_cast<std::size_t>(c)].down;
        const std::ptrdiff_t stride = planes.plane[static_cast<std::size_t>(c)].row_stride;
        const int to = std::max(mcu_row - first, 0) * count;
        for (int row = 0; row < count; ++row) rows[c][row] = samples + offsets[c] + (to + row) * stride;
      }
      if (jpeg_read_raw_data(&jpeg, arrays, static_cast<JDIMENSION>(mcu_height)) == 0) {
        session_->errors.give_up(ErrorKind::kBadSample, "libjpeg makes no progress");
      }
    }
  });
  jpeg_abort_decompress(&jpeg);
  for (int c = 0; c < planes.count; ++c) planes.plane[static_cast<std::size_t>(c)].samples = samples + offsets[c];
  return planes;
}

}  // namespace stoker
