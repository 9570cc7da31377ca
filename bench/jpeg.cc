// Stoker's JPEG decoder beside libjpeg-turbo, image by image, on one core, without anything around them: whole images
// to RGB by libjpeg-turbo, and the planes or pixels under a random crop as training draws them, on each instruction
// set in each of its ways.
//
//   taskset -c 0 bench_jpeg FOLDER [ROUNDS]
//
// Prints microseconds per image: of each image the fastest round, since a busy machine only ever adds. Then, for each
// class of images by sampling and size, how many times faster than libjpeg-turbo's way to the crop the planes are.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/isa.h"
#include "stoker/codec/jpeg/jpeg_decoder.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

struct JpegFile {
  std::vector<std::uint8_t> bytes;
  JpegHeader header;
  EntryPoints points;
  std::vector<std::uint8_t> packed_points;
  std::vector<Rect> crops;
};

constexpr int kCrops = 3;

std::vector<JpegFile> load(const std::string& folder) {
  const Plan plan(Recipe::named("imagenet-train"));
  JpegPlaneDecoder decoder;
  std::vector<JpegFile> files;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    JpegFile file{.bytes = {std::istreambuf_iterator<char>(stream), {}},
                  .header = {},
                  .points = {},
                  .packed_points = {},
                  .crops = {}};
    const std::optional<JpegHeader> header = parse_jpeg_header(file.bytes);
    if (!header || !decoder.find_entry_points(file.bytes, *header, file.points)) {
      fmt::print("left out: {}\n", path.string());
      continue;
    }
    file.header = *header;
    pack_entry_points(file.points, file.bytes.size(), file.packed_points);
    for (std::uint64_t draw = 0; draw < kCrops; ++draw) {
      const SamplingMap map = plan.views()[0].image.geometry.draw({header->width, header->height},
                                                                  {.seed = 1, .epoch = draw, .position = files.size()});
      file.crops.push_back({map.x.clamp_begin, map.y.clamp_begin, map.x.clamp_end - map.x.clamp_begin,
                            map.y.clamp_end - map.y.clamp_begin});
    }
    files.push_back(std::move(file));
  }
  return files;
}

class Contest {
 public:
  Contest(std::vector<JpegFile> files, int rounds) : files_(std::move(files)), rounds_(rounds) {}

  /// Returns its number.
  std::size_t add(const std::string& name, const std::string& isa, const std::string& way,
                  std::function<void(const JpegFile&, Rect)> work) {
    contestants_.push_back(
        {name, isa, way, std::move(work), std::vector<std::int64_t>(files_.size() * kCrops, INT64_MAX)});
    return contestants_.size() - 1;
  }

  void run() {
    for (int round = 0; round < rounds_; ++round) {
      for (Contestant& contestant : contestants_) {
        select_isa(contestant.isa);
        SegmentDecoder::select_way(contestant.way);
        for (std::size_t f = 0; f < files_.size(); ++f) {
          for (std::size_t c = 0; c < kCrops; ++c) {
            const std::int64_t began = now_ns();
            contestant.work(files_[f], files_[f].crops[c]);
            std::int64_t& fastest = contestant.fastest_ns[f * kCrops + c];
            fastest = std::min(fastest, now_ns() - began);
          }
        }
      }
    }
    double first = 0;
    for (const Contestant& contestant : contestants_) {
      double sum = 0;
      for (const std::int64_t ns : contestant.fastest_ns) sum += static_cast<double>(ns);
      const double us = 1e-3 * sum / static_cast<double>(contestant.fastest_ns.size());
      if (first == 0) first = us;
      fmt::print("{:44} {:8} {:8} {:9.1f} us {:7.2f}\n", contestant.name, contestant.isa, contestant.way, us,
                 first / us);
    }
  }

  /// Ratios of one contestant's times to another's, crop by crop: the median of each class of images, and the least.
  void compare_classes(std::size_t slow, std::size_t fast) const {
    std::map<std::string, std::vector<double>> classes;
    for (std::size_t i = 0; i < files_.size() * kCrops; ++i) {
      const double ratio =
          static_cast<double>(contestants_[slow].fastest_ns[i]) / static_cast<double>(contestants_[fast].fastest_ns[i]);
      classes[class_of(files_[i / kCrops].header)].push_back(ratio);
    }
    fmt::print("\n{}, {} {}, against: {}\n{:36} {:>6} {:>8} {:>8}\n", contestants_[fast].name, contestants_[fast].isa,
               contestants_[fast].way, contestants_[slow].name, "class", "crops", "median", "least");
    for (auto& [name, ratios] : classes) {
      std::sort(ratios.begin(), ratios.end());
      fmt::print("{:36} {:6} {:8.2f} {:8.2f}\n", name, ratios.size(), ratios[ratios.size() / 2], ratios.front());
    }
  }

 private:
  static std::string class_of(const JpegHeader& header) {
    const int side = std::min(header.width, header.height);
    const std::string sampling =
        header.component_count == 1 ? "grey" : fmt::format("chroma {} x {}", header.across_max(), header.down_max());
    return fmt::format("{}, short side {}", sampling,
                       side < 128   ? "below 128"
                       : side < 256 ? "128 to 255"
                       : side < 512 ? "256 to 511"
                                    : "from 512");
  }

  struct Contestant {
    std::string name, isa, way;
    std::function<void(const JpegFile&, Rect)> work;
    std::vector<std::int64_t> fastest_ns;
  };

  std::vector<JpegFile> files_;
  int rounds_;
  std::vector<Contestant> contestants_;
};

void run(const std::string& folder, int rounds) {
  Contest contest(load(folder), rounds);
  LibjpegDecoder library;
  JpegPlaneDecoder decoder;
  EntryPoints points;
  JpegDecoder whole;
  const std::string best = available_isas().front();
  contest.add("libjpeg-turbo, all to RGB", best, "", [&](const JpegFile& file, Rect) {
    library.decode_rgb(file.bytes, file.header.facts(), {0, 0, file.header.width, file.header.height});
  });
  const std::size_t window =
      contest.add("libjpeg-turbo, the crop to RGB", best, "",
                  [&](const JpegFile& file, Rect crop) { library.decode_rgb(file.bytes, file.header.facts(), crop); });
  contest.add("header", best, "", [](const JpegFile& file, Rect) {
    if (!parse_jpeg_header(file.bytes)) fail(ErrorKind::kBadSample, "a header is not accepted");
  });
  contest.add("finding entry points", best, "", [&](const JpegFile& file, Rect) {
    if (!decoder.find_entry_points(file.bytes, file.header, points)) fail(ErrorKind::kBadSample, "not sound");
  });
  std::vector<std::size_t> planes;
  for (const std::string& isa : available_isas()) {
    select_isa(isa);
    for (const std::string& way : SegmentDecoder::ways()) {
      planes.push_back(
          contest.add("planes of the crop, without entry points", isa, way, [&](const JpegFile& file, Rect crop) {
            if (!decoder.decode(file.bytes, file.header, crop)) fail(ErrorKind::kBadSample, "not sound");
          }));
      for (const int shrink : {1, 2, 4, 8}) {
        const std::string at = shrink == 1 ? "" : fmt::format(", at 1/{}", shrink);
        const std::size_t number = contest.add(
            "planes of the crop by entry points" + at, isa, way, [&, shrink](const JpegFile& file, Rect crop) {
              const bool sound = decoder.decode(file.bytes, file.header, crop, &file.points, shrink).has_value();
              if (!sound) fail(ErrorKind::kBadSample, "not sound");
            });
        if (shrink == 1) planes.push_back(number);
      }
      contest.add("the crop to RGB by entry points", isa, way, [&](const JpegFile& file, Rect crop) {
        whole.decode_rgb(file.bytes, file.header.facts(), crop, file.packed_points);
      });
    }
  }
  contest.run();
  for (const std::size_t fast : planes) contest.compare_classes(window, fast);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_jpeg FOLDER [ROUNDS]\n");
    return 2;
  }
  try {
    stoker::run(argv[1], argc > 2 ? std::stoi(argv[2]) : 5);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_jpeg: {}\n", error.what());
    return 1;
  }
  return 0;
}
