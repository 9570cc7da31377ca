#include "bench/peers/peer.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/order/epoch_order.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

double cpu_seconds_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<std::string> image_paths(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string extension = entry.path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (extension == ".jpg" || extension == ".jpeg") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) fail(ErrorKind::kNotFound, "no JPEG in {}", folder);
  return paths;
}

void read_file(const std::string& path, std::vector<std::uint8_t>& into) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  into.resize(static_cast<std::size_t>(file.tellg()));
  file.seekg(0).read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
  if (!file) fail(ErrorKind::kIo, "cannot read {}", path);
}

std::int64_t write_pixels(const std::vector<float>& pixels, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(pixels.data()), static_cast<std::streamsize>(pixels.size() * sizeof(float)));
  if (!file.flush()) fail(ErrorKind::kIo, "cannot write {}", path);
  return static_cast<std::int64_t>(pixels.size() / kPlanes);
}

using Run = std::function<std::int64_t(int epochs, Stopwatch& watch)>;

nlohmann::json answer(const std::string& line, const Run& run, const std::function<std::vector<float>()>& pixels) {
  std::istringstream words(line);
  std::string command, argument;
  words >> command;
  std::getline(words >> std::ws, argument);
  if (command == "pixels") return {{"samples", write_pixels(pixels(), argument)}};
  if (command != "run") fail(ErrorKind::kUsage, "unknown command '{}'", command);
  Stopwatch watch;
  const std::int64_t samples = run(std::stoi(argument), watch);
  return {{"samples", samples}, {"seconds", watch.seconds()}, {"cpu_seconds", watch.cpu_seconds()}};
}

}  // namespace

void Stopwatch::start() {
  cpu_began_ = cpu_seconds_so_far();
  began_ns_ = now_ns();
}

double Stopwatch::seconds() const { return 1e-9 * static_cast<double>(now_ns() - began_ns_); }

double Stopwatch::cpu_seconds() const { return cpu_seconds_so_far() - cpu_began_; }

int serve(const Run& run, const std::function<std::vector<float>()>& pixels) {
  try {
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(line, run, pixels) << '\n' << std::flush;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}

int serve_images(const std::string& folder, const Transform& transform) {
  const std::vector<std::string> paths = image_paths(folder);
  const auto count = static_cast<std::int64_t>(paths.size());
  const Plan plan(Recipe::named("imagenet-train"));
  const ImageProgram& program = plan.views()[0].image;
  std::vector<std::uint8_t> encoded;
  std::vector<float> batch(kBatch * kPlanes);
  std::uint64_t epochs_done = 0;

  const auto run = [&](int epochs, Stopwatch&) {
    for (int epoch = 0; epoch < epochs; ++epoch, ++epochs_done) {
      const EpochOrder order({.samples = count, .seed = 1}, static_cast<std::int64_t>(epochs_done));
      for (std::int64_t position = 0; position < count; ++position) {
        read_file(paths[static_cast<std::size_t>(*order.sample_at(position))], encoded);
        const SampleDraw draw{1, epochs_done, static_cast<std::uint64_t>(position)};
        const auto box_of = [&](int width, int height) { return drawn_box(program.geometry, width, height, draw); };
        transform(encoded, box_of, program.color, batch.data() + static_cast<std::size_t>(position % kBatch) * kPlanes);
      }
    }
    return epochs * count;
  };
  const auto pixels = [&] {
    std::vector<float> planes(static_cast<std::size_t>(std::min(count, kPixelImages)) * kPlanes);
    for (std::size_t i = 0; i < planes.size() / kPlanes; ++i) {
      read_file(paths[i], encoded);
      transform(encoded, centre_box, program.color, planes.data() + i * kPlanes);
    }
    return planes;
  };
  return serve(run, pixels);
}

}  // namespace stoker
