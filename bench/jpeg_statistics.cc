// What `stoker synth --kind imagenet` makes, beside a folder of real photographs: sizes, bits per pixel, chroma
// subsampling, Huffman tables, coefficients per block and libjpeg-turbo's time per pixel. A loader that is measured on
// the made-up images must not be flattered by them, so every figure that decoding time hangs on has to be close.
//
//   taskset -c 0 bench_jpeg_statistics [--count N] [--seed S] [--synth DIR] [--data DIR] [--rounds N] [--json FILE]
//
// Without --synth the images are made on the fly; without --data there is nothing to compare with.
#include <fmt/format.h>
#include <stdio.h>  // jpeglib.h needs FILE

#include <jpeglib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/pack/synth/synth.h"

namespace {

namespace fs = std::filesystem;
using stoker::ErrorKind;
using stoker::fail;

constexpr double kTolerance = 0.15;  // how far a figure of the made-up set may lie from the real one

struct Arguments {
  int count = 300;
  std::uint64_t seed = 0;
  int rounds = 7;
  std::string synth, data, json;
};

struct JpegFile {
  std::string path;
  std::vector<std::uint8_t> bytes;
};

/// Luma, and the two chroma components together.
struct PlaneCounts {
  std::int64_t blocks = 0, nonzeros = 0;
  std::array<std::int64_t, 64> last{};  // blocks whose last non-zero coefficient stands here, in zigzag order

  double nonzeros_per_block() const { return blocks ? static_cast<double>(nonzeros) / static_cast<double>(blocks) : 0; }
};

struct SetStatistics {
  std::vector<double> bits_per_pixel;  // one per image, ascending once collected
  double width = 0, height = 0, pixels = 0, bytes = 0;
  std::int64_t images = 0, optimised = 0, warnings = 0;
  std::int64_t s444 = 0, s422 = 0, s420 = 0, grey = 0, other = 0;
  PlaneCounts luma, chroma;

  double share(std::int64_t count) const { return static_cast<double>(count) / static_cast<double>(images); }
  double percentile(double p) const {
    return bits_per_pixel[static_cast<std::size_t>(p * static_cast<double>(bits_per_pixel.size() - 1) + 0.5)];
  }
  /// Of all blocks: they carry no end-of-block symbol.
  double ending_at_63() const {
    return static_cast<double>(luma.last[63] + chroma.last[63]) / static_cast<double>(luma.blocks + chroma.blocks);
  }
};

/// libjpeg's default says what is wrong but not in which file.
[[noreturn]] void exit_naming_file(j_common_ptr codec) {
  char message[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, message);
  fmt::print(stderr, "bench_jpeg_statistics: {}: {}\n", static_cast<const char*>(codec->client_data), message);
  std::exit(1);
}

class JpegReader {
 public:
  explicit JpegReader(const JpegFile& file) {
    decoder.err = jpeg_std_error(&errors_);
    errors_.error_exit = exit_naming_file;
    errors_.output_message = [](j_common_ptr) {};
    jpeg_create_decompress(&decoder);
    decoder.client_data = const_cast<char*>(file.path.c_str());
    jpeg_mem_src(&decoder, file.bytes.data(), file.bytes.size());
    jpeg_read_header(&decoder, TRUE);
  }
  ~JpegReader() { jpeg_destroy_decompress(&decoder); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  jpeg_decompress_struct decoder{};

 private:
  jpeg_error_mgr errors_{};
};

std::vector<JpegFile> read_folder(const std::string& folder, std::size_t count) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string extension = entry.path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (entry.is_regular_file() && (extension == ".jpg" || extension == ".jpeg")) paths.push_back(entry.path());
  }
  if (paths.empty()) fail(ErrorKind::kNotFound, "{}: no JPEG file in this folder", folder);
  std::sort(paths.begin(), paths.end());
  paths.resize(std::min(paths.size(), count));
  std::vector<JpegFile> files;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    std::vector<std::uint8_t> bytes(fs::file_size(path));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream) fail(ErrorKind::kIo, "{}: cannot be read", path.string());
    files.push_back({path.string(), std::move(bytes)});
  }
  return files;
}

/// Whether the file's luma tables differ from those of the standard's annex K, which encoders use unless told to
/// optimise.
bool has_own_tables(const jpeg_decompress_struct& decoder) {
  jpeg_error_mgr errors{};
  jpeg_compress_struct standard{};
  standard.err = jpeg_std_error(&errors);
  jpeg_create_compress(&standard);
  standard.in_color_space = JCS_GRAYSCALE;
  standard.input_components = 1;
  jpeg_set_defaults(&standard);
  const JHUFF_TBL *own = decoder.ac_huff_tbl_ptrs[decoder.comp_info[0].ac_tbl_no],
                  *theirs = standard.ac_huff_tbl_ptrs[0];
  const bool differs = !own || std::memcmp(own->bits, theirs->bits, sizeof own->bits) != 0 ||
                       std::memcmp(own->huffval, theirs->huffval, sizeof own->huffval) != 0;
  jpeg_destroy_compress(&standard);
  return differs;
}

/// Zigzag position of each coefficient in row order.
std::array<int, 64> zigzag_positions() {
  std::array<int, 64> position{};
  int next = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int i = 0; i <= diagonal; ++i) {
      const int row = diagonal % 2 ? i : diagonal - i, column = diagonal - row;
      if (row < 8 && column < 8) position[static_cast<std::size_t>(row * 8 + column)] = next++;
    }
  }
  return position;
}

void count_coefficients(JpegReader& reader, PlaneCounts& luma, PlaneCounts& chroma) {
  static const std::array<int, 64> zigzag = zigzag_positions();
  auto& decoder = reader.decoder;
  jvirt_barray_ptr* planes = jpeg_read_coefficients(&decoder);
  for (int c = 0; c < decoder.num_components; ++c) {
    PlaneCounts& counts = c == 0 ? luma : chroma;
    const jpeg_component_info& component = decoder.comp_info[c];
    for (JDIMENSION row = 0; row < component.height_in_blocks; ++row) {
      const JBLOCKARRAY blocks =
          decoder.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&decoder), planes[c], row, 1, FALSE);
      for (JDIMENSION column = 0; column < component.width_in_blocks; ++column) {
        int last = 0, nonzeros = 0;
        for (std::size_t i = 0; i < 64; ++i) {
          if (blocks[0][column][i] == 0) continue;
          ++nonzeros;
          last = std::max(last, zigzag[i]);
        }
        counts.nonzeros += nonzeros;
        ++counts.last[static_cast<std::size_t>(last)];
      }
      counts.blocks += component.width_in_blocks;
    }
  }
}

void count_subsampling(const jpeg_decompress_struct& decoder, SetStatistics& set) {
  if (decoder.num_components == 1) {
    ++set.grey;
    return;
  }
  const auto* c = decoder.comp_info;
  const bool chroma_whole = decoder.num_components == 3 && c[1].h_samp_factor == 1 && c[1].v_samp_factor == 1 &&
                            c[2].h_samp_factor == 1 && c[2].v_samp_factor == 1;
  const int luma = 10 * c[0].h_samp_factor + c[0].v_samp_factor;
  ++(!chroma_whole ? set.other : luma == 11 ? set.s444 : luma == 21 ? set.s422 : luma == 22 ? set.s420 : set.other);
}

SetStatistics collect(const std::vector<JpegFile>& files) {
  SetStatistics set;
  for (const JpegFile& file : files) {
    JpegReader reader(file);
    const double pixels = static_cast<double>(reader.decoder.image_width) * reader.decoder.image_height;
    const double bits = 8.0 * static_cast<double>(file.bytes.size());
    ++set.images;
    set.width += reader.decoder.image_width;
    set.height += reader.decoder.image_height;
    set.pixels += pixels;
    set.bytes += static_cast<double>(file.bytes.size());
    set.bits_per_pixel.push_back(bits / pixels);
    count_subsampling(reader.decoder, set);
    count_coefficients(reader, set.luma, set.chroma);
    set.optimised += has_own_tables(reader.decoder);  // after the whole file: tables may stand anywhere before a scan
    set.warnings += reader.decoder.err->num_warnings;
  }
  std::sort(set.bits_per_pixel.begin(), set.bits_per_pixel.end());
  return set;
}

void check_no_repeats(const std::vector<JpegFile>& files) {
  std::set<std::uint64_t> hashes;
  for (const JpegFile& file : files) {
    if (!hashes.insert(stoker::hash64(file.bytes)).second)
      fail(ErrorKind::kData, "{}: the same bytes as another file", file.path);
  }
}

void decode_rgb(const JpegFile& file, std::vector<std::uint8_t>& pixels) {
  JpegReader reader(file);
  auto& decoder = reader.decoder;
  decoder.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder);
  const std::size_t row_bytes = std::size_t{decoder.output_width} * 3;
  pixels.resize(std::max(pixels.size(), row_bytes * decoder.output_height));
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW row = pixels.data() + row_bytes * decoder.output_scanline;
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
}

double seconds_to_decode(const std::vector<JpegFile>& files, std::vector<std::uint8_t>& pixels) {
  const std::int64_t start = stoker::now_ns();
  for (const JpegFile& file : files) decode_rgb(file, pixels);
  return static_cast<double>(stoker::now_ns() - start) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Timing {
  double synth_ns = 0, data_ns = 0;  // per pixel
  double ratio = 0;                  // median of the rounds' ratios: steadier than the ratio of the medians
};

Timing time_decoding(const std::vector<JpegFile>& synth, double synth_pixels, const std::vector<JpegFile>& data,
                     double data_pixels, int rounds) {
  std::vector<std::uint8_t> pixels;
  std::vector<double> synth_ns, data_ns, ratios;
  for (int round = -1; round < rounds; ++round) {  // the round before the first warms up
    const double s = seconds_to_decode(synth, pixels) * 1e9 / synth_pixels;
    const double d = data.empty() ? 0 : seconds_to_decode(data, pixels) * 1e9 / data_pixels;
    if (round < 0) continue;
    synth_ns.push_back(s);
    data_ns.push_back(d);
    ratios.push_back(data.empty() ? 0 : s / d);
  }
  return {median(synth_ns), median(data_ns), median(ratios)};
}

struct Figure {
  std::string name, unit;
  std::function<double(const SetStatistics&)> of;
  bool must_hold = false;  // within kTolerance of the real set
};

std::vector<Figure> figures() {
  using S = const SetStatistics&;
  return {
      {"images", "", [](S s) { return static_cast<double>(s.images); }, false},
      {"width", "pixels", [](S s) { return s.width / static_cast<double>(s.images); }, true},
      {"height", "pixels", [](S s) { return s.height / static_cast<double>(s.images); }, true},
      {"file size", "KB", [](S s) { return s.bytes / static_cast<double>(s.images) / 1000; }, true},
      {"bits per pixel", "", [](S s) { return 8 * s.bytes / s.pixels; }, true},
      {"bits per pixel p10", "", [](S s) { return s.percentile(0.1); }, false},
      {"bits per pixel p50", "", [](S s) { return s.percentile(0.5); }, false},
      {"bits per pixel p90", "", [](S s) { return s.percentile(0.9); }, false},
      {"4:4:4", "share", [](S s) { return s.share(s.s444); }, true},
      {"4:2:0", "share", [](S s) { return s.share(s.s420); }, false},
      {"4:2:2", "share", [](S s) { return s.share(s.s422); }, false},
      {"grey", "share", [](S s) { return s.share(s.grey); }, false},
      {"other subsampling", "share", [](S s) { return s.share(s.other); }, false},
      {"optimised tables", "share", [](S s) { return s.share(s.optimised); }, true},
      {"non-zero, luma", "per block", [](S s) { return s.luma.nonzeros_per_block(); }, true},
      {"non-zero, chroma", "per block", [](S s) { return s.chroma.nonzeros_per_block(); }, true},
      {"blocks ending at 63", "share", [](S s) { return s.ending_at_63(); }, false},
  };
}

class Report {
 public:
  explicit Report(bool compares) : compares_(compares) {
    fmt::print("{:<24}{:>12}{:>12}{:>8}  {}\n", "", "synth", compares ? "real" : "", compares ? "ratio" : "", "");
  }

  void add(const std::string& name, const std::string& unit, double value, double against, double ratio,
           bool must_hold) {
    const bool holds = std::abs(ratio - 1) <= kTolerance;
    const std::string label = unit.empty() ? name : name + " (" + unit + ")";
    if (!compares_) {
      fmt::print("{:<30}{:>10.3f}\n", label, value);
    } else {
      fmt::print("{:<30}{:>10.3f}{:>12.3f}{:>8.2f}  {}\n", label, value, against, ratio,
                 must_hold ? fmt::format("within {:.0f}%: {}", 100 * kTolerance, holds ? "yes" : "no") : "");
    }
    nlohmann::ordered_json entry{{"name", "synth " + name}, {"value", value},   {"unit", unit},    {"against", nullptr},
                                 {"ratio", nullptr},        {"floor", nullptr}, {"goal", nullptr}, {"holds", nullptr}};
    if (compares_) {
      entry["against"] = against;
      entry["ratio"] = ratio;
      if (must_hold) {
        entry["floor"] = 1 - kTolerance;
        entry["goal"] = 1;
        entry["holds"] = holds;
      }
    }
    entries_.push_back(entry);
  }

  void write(const std::string& path) const {
    std::ofstream stream(path);
    stream << entries_.dump(2) << "\n";
    if (!stream.flush()) fail(ErrorKind::kIo, "{}: cannot be written", path);
  }

 private:
  bool compares_;
  nlohmann::ordered_json entries_ = nlohmann::ordered_json::array();
};

/// In eight groups of eight zigzag positions, as shares of the blocks: where the entropy decoder's time goes.
void print_last_positions(const char* name, const PlaneCounts& counts) {
  fmt::print("  {:<14}", name);
  for (std::size_t group = 0; group < 8; ++group) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum += counts.last[group * 8 + i];
    fmt::print("{:>7.3f}", counts.blocks ? static_cast<double>(sum) / static_cast<double>(counts.blocks) : 0);
  }
  fmt::print("\n");
}

/// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((fs::temp_directory_path() / fmt::format("stoker-jpeg-statistics-{}", ::getpid())).string()) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (i + 1 == argc) fail(ErrorKind::kUsage, "{} needs a value", name);
    const std::string value = argv[++i];
    if (name == "--count") {
      arguments.count = std::stoi(value);
    } else if (name == "--seed") {
      arguments.seed = std::stoull(value);
    } else if (name == "--rounds") {
      arguments.rounds = std::stoi(value);
    } else if (name == "--synth") {
      arguments.synth = value;
    } else if (name == "--data") {
      arguments.data = value;
    } else if (name == "--json") {
      arguments.json = value;
    } else {
      fail(ErrorKind::kUsage, "{} is none of --count, --seed, --rounds, --synth, --data, --json", name);
    }
  }
  if (arguments.count < 1 || arguments.rounds < 1) fail(ErrorKind::kUsage, "--count and --rounds must be at least 1");
  return arguments;
}

std::vector<JpegFile> made_up_images(const Arguments& arguments) {
  if (!arguments.synth.empty()) return read_folder(arguments.synth, static_cast<std::size_t>(arguments.count));
  const TemporaryFolder folder;
  stoker::SynthOptions options;
  options.count = arguments.count;
  options.seed = arguments.seed;
  options.classes = std::min(arguments.count, 10);
  const std::int64_t start = stoker::now_ns();
  stoker::synthesize(folder.path(), options);
  fmt::print("made {} images in {:.1f} s\n", arguments.count, static_cast<double>(stoker::now_ns() - start) * 1e-9);
  return read_folder(folder.path(), static_cast<std::size_t>(arguments.count));
}

void run(const Arguments& arguments) {
  const std::vector<JpegFile> synth = made_up_images(arguments);
  const std::vector<JpegFile> data =
      arguments.data.empty() ? std::vector<JpegFile>() : read_folder(arguments.data, SIZE_MAX);
  check_no_repeats(synth);
  const SetStatistics s = collect(synth), d = collect(data);
  if (s.warnings != 0)
    fail(ErrorKind::kData, "libjpeg warned {} times while it decoded the made-up images", s.warnings);

  Report report(!data.empty());
  for (const Figure& figure : figures()) {
    if (data.empty()) {
      report.add(figure.name, figure.unit, figure.of(s), 0, 0, false);
    } else {
      const double value = figure.of(s), against = figure.of(d);
      report.add(figure.name, figure.unit, value, against, value / against, figure.must_hold);
    }
  }
  const Timing timing = time_decoding(synth, s.pixels, data, d.pixels, arguments.rounds);
  report.add("libjpeg-turbo to RGB", "ns/pixel", timing.synth_ns, timing.data_ns, timing.ratio, true);

  fmt::print("last non-zero coefficient, shares of blocks at zigzag 0-7, 8-15, ..., 56-63\n");
  print_last_positions("synth luma", s.luma);
  if (!data.empty()) print_last_positions("real luma", d.luma);
  print_last_positions("synth chroma", s.chroma);
  if (!data.empty()) print_last_positions("real chroma", d.chroma);
  if (!arguments.json.empty()) report.write(arguments.json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "bench_jpeg_statistics: {}\n", error.message());
    return error.kind() == ErrorKind::kUsage ? 2 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_jpeg_statistics: {}\n", error.what());
    return 1;
  }
  return 0;
}
