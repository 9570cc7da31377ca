// Stoker's JPEG decoder beside libjpeg-turbo, image by image, on one core, without anything around them: whole images
// to RGB by libjpeg-turbo, and the planes under a random crop as training draws them.
//
//   taskset -c 0 bench_jpeg FOLDER [ROUNDS]
//
// Prints microseconds per image: of each image the fastest round, since a busy machine only ever adds.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/isa.h"
#include "stoker/codec/jpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

struct JpegFile {
  std::vector<std::uint8_t> bytes;
  JpegHeader header;
  EntryPoints points;
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
    JpegFile file{.bytes = {std::istreambuf_iterator<char>(stream), {}}, .header = {}, .points = {}, .crops = {}};
    const std::optional<JpegHeader> header = parse_jpeg_header(file.bytes);
    if (!header || !decoder.find_entry_points(file.bytes, *header, file.points)) {
      fmt::print("left out: {}\n", path.string());
      continue;
    }
    file.header = *header;
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

  void add(const std::string& name, const std::string& isa, std::function<void(const JpegFile&, Rect)> work) {
    contestants_.push_back({name, isa, std::move(work), std::vector<std::int64_t>(files_.size() * kCrops, INT64_MAX)});
  }

  void run() {
    for (int round = 0; round < rounds_; ++round) {
      for (Contestant& contestant : contestants_) {
        select_isa(contestant.isa);
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
      fmt::print("{:44} {:8} {:9.1f} us {:7.2f}\n", contestant.name, contestant.isa, us, first / us);
    }
  }

 private:
  struct Contestant {
    std::string name, isa;
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
  const std::string best = available_isas().front();
  contest.add("libjpeg-turbo, all to RGB", best, [&](const JpegFile& file, Rect) {
    library.decode_rgb(file.bytes, file.header.facts(), {0, 0, file.header.width, file.header.height});
  });
  contest.add("libjpeg-turbo, the crop to RGB", best,
              [&](const JpegFile& file, Rect crop) { library.decode_rgb(file.bytes, file.header.facts(), crop); });
  contest.add("header", best, [](const JpegFile& file, Rect) {
    if (!parse_jpeg_header(file.bytes)) fail(ErrorKind::kBadSample, "a header is not accepted");
  });
  contest.add("finding entry points", best, [&](const JpegFile& file, Rect) {
    if (!decoder.find_entry_points(file.bytes, file.header, points)) fail(ErrorKind::kBadSample, "not sound");
  });
  for (const std::string& isa : available_isas()) {
    contest.add("planes of the crop, without entry points", isa, [&](const JpegFile& file, Rect crop) {
      if (!decoder.decode(file.bytes, file.header, crop)) fail(ErrorKind::kBadSample, "not sound");
    });
    contest.add("planes of the crop by entry points", isa, [&](const JpegFile& file, Rect crop) {
      if (!decoder.decode(file.bytes, file.header, crop, &file.points)) fail(ErrorKind::kBadSample, "not sound");
    });
  }
  contest.run();
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
