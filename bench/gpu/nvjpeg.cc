// How many JPEGs a second nvJPEG decodes in batches, at best: to RGB of their own size, nothing else. Its back ends,
// batch sizes and numbers of streams are tried in turn. Prints one JSON object, of which `rates` may be empty.
// Usage: gpu_nvjpeg FOLDER [GPU], with files of FOLDER ending in .jpg.
#include <dlfcn.h>
#include <nvjpeg.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/gpu/check.h"

namespace {

using Bytes = std::vector<unsigned char>;

constexpr int kCpuThreads = 16;
constexpr double kSecondsPerPass = 0.5;

struct Arrangement {
  int batch, lanes;
};
constexpr Arrangement kArrangements[] = {{64, 4}, {256, 1}, {256, 2}, {256, 4}};

// The library's functions that are used here, from the library if there is one.
struct NvJpeg {
  decltype(&nvjpegCreateEx) create;
  decltype(&nvjpegDestroy) destroy;
  decltype(&nvjpegJpegStateCreate) create_state;
  decltype(&nvjpegJpegStateDestroy) destroy_state;
  decltype(&nvjpegGetImageInfo) image_info;
  decltype(&nvjpegDecodeBatchedInitialize) initialize;
  decltype(&nvjpegDecodeBatched) decode;

  bool open() {
    void* library = nullptr;
    for (const char* name : {"libnvjpeg.so.13", "libnvjpeg.so"}) {
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library && find(library, "nvjpegCreateEx", create) && find(library, "nvjpegDestroy", destroy) &&
           find(library, "nvjpegJpegStateCreate", create_state) &&
           find(library, "nvjpegJpegStateDestroy", destroy_state) && find(library, "nvjpegGetImageInfo", image_info) &&
           find(library, "nvjpegDecodeBatchedInitialize", initialize) && find(library, "nvjpegDecodeBatched", decode);
  }

 private:
  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
};

struct BackEnd {
  const char* name;
  nvjpegBackend_t number;
};
constexpr BackEnd kBackEnds[] = {{"hybrid", NVJPEG_BACKEND_HYBRID},
                                 {"gpu hybrid", NVJPEG_BACKEND_GPU_HYBRID},
                                 {"hardware", NVJPEG_BACKEND_HARDWARE}};

struct Images {
  std::vector<const unsigned char*> data;  // pinned
  std::vector<std::size_t> lengths, pitches;
  std::size_t rgb_bytes_max = 0;
};

Images load(const NvJpeg& nvjpeg, const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  nvjpegHandle_t handle = nullptr;
  Images images;
  if (nvjpeg.create(NVJPEG_BACKEND_HYBRID, nullptr, nullptr, 0, &handle) != NVJPEG_STATUS_SUCCESS) return images;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    int components = 0, widths[NVJPEG_MAX_COMPONENT] = {}, heights[NVJPEG_MAX_COMPONENT] = {};
    nvjpegChromaSubsampling_t sampling{};
    if (nvjpeg.image_info(handle, bytes.data(), bytes.size(), &components, &sampling, widths, heights) !=
        NVJPEG_STATUS_SUCCESS) {
      continue;
    }
    unsigned char* pinned = nullptr;
    check(cudaMallocHost(&pinned, bytes.size()), "pinned memory");
    std::copy(bytes.begin(), bytes.end(), pinned);
    images.data.push_back(pinned);
    images.lengths.push_back(bytes.size());
    images.pitches.push_back(static_cast<std::size_t>(widths[0]) * 3);
    images.rgb_bytes_max = std::max(images.rgb_bytes_max, std::size_t{3} * static_cast<std::size_t>(widths[0]) *
                                                              static_cast<std::size_t>(heights[0]));
  }
  nvjpeg.destroy(handle);
  return images;
}

// One of several decoders that take turns, each on its stream.
struct Lane {
  nvjpegJpegState_t state = nullptr;
  cudaStream_t stream = nullptr;
  unsigned char* memory = nullptr;
  std::vector<nvjpegImage_t> out;
};

// Images per second; 0 if this back end refuses the images.
double rate(const NvJpeg& nvjpeg, const Images& images, nvjpegBackend_t back_end, int batch, int lane_count) {
  nvjpegHandle_t handle = nullptr;
  if (nvjpeg.create(back_end, nullptr, nullptr, 0, &handle) != NVJPEG_STATUS_SUCCESS) return 0;
  std::vector<Lane> lanes(static_cast<std::size_t>(lane_count));
  const auto slots = static_cast<std::size_t>(batch);
  bool good = true;
  for (Lane& lane : lanes) {
    check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "stream");
    check(cudaMalloc(&lane.memory, slots * images.rgb_bytes_max), "memory");
    for (std::size_t i = 0; i < slots; ++i) {
      nvjpegImage_t image{};
      image.channel[0] = lane.memory + i * images.rgb_bytes_max;
      lane.out.push_back(image);
    }
    good = good && nvjpeg.create_state(handle, &lane.state) == NVJPEG_STATUS_SUCCESS &&
           nvjpeg.initialize(handle, lane.state, batch, kCpuThreads, NVJPEG_OUTPUT_RGBI) == NVJPEG_STATUS_SUCCESS;
  }
  std::vector<const unsigned char*> data(slots);
  std::vector<std::size_t> lengths(slots);
  std::size_t next = 0;
  const auto decode = [&](Lane& lane) {
    for (std::size_t i = 0; i < slots; ++i, next = (next + 1) % images.data.size()) {
      data[i] = images.data[next];
      lengths[i] = images.lengths[next];
      lane.out[i].pitch[0] = images.pitches[next];
    }
    return cudaStreamSynchronize(lane.stream) == cudaSuccess &&
           nvjpeg.decode(handle, lane.state, data.data(), lengths.data(), lane.out.data(), lane.stream) ==
               NVJPEG_STATUS_SUCCESS;
  };
  const auto all = [&] {
    for (Lane& lane : lanes) good = good && decode(lane);
  };
  const auto seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  if (good) all();  // memory is taken the first time
  for (Lane& lane : lanes) good = cudaStreamSynchronize(lane.stream) == cudaSuccess && good;
  const double began = seconds();
  double decoded = 0, elapsed = 0;
  while (good && elapsed < kSecondsPerPass) {
    all();
    decoded += static_cast<double>(batch) * lane_count;
    elapsed = seconds() - began;
  }
  for (Lane& lane : lanes) good = cudaStreamSynchronize(lane.stream) == cudaSuccess && good;
  elapsed = seconds() - began;
  for (Lane& lane : lanes) {
    if (lane.state) nvjpeg.destroy_state(lane.state);
    check(cudaFree(lane.memory), "memory");
    check(cudaStreamDestroy(lane.stream), "stream");
  }
  nvjpeg.destroy(handle);
  return good ? decoded / elapsed : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: gpu_nvjpeg FOLDER [GPU]\n");
    return 2;
  }
  check(cudaSetDevice(argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 0), "GPU");
  NvJpeg nvjpeg{};
  std::string rates;
  std::size_t count = 0;
  const bool there = nvjpeg.open();
  if (there) {
    const Images images = load(nvjpeg, argv[1]);
    count = images.data.size();
    for (const BackEnd& back_end : kBackEnds) {
      for (const auto [batch, lanes] : kArrangements) {
        if (count == 0) continue;
        const double images_per_s = rate(nvjpeg, images, back_end.number, batch, lanes);
        if (images_per_s <= 0) continue;
        char text[160];
        std::snprintf(text, sizeof(text),
                      "%s{\"back_end\": \"%s\", \"batch\": %d, \"streams\": %d, \"images_per_s\": %.1f}",
                      rates.empty() ? "" : ", ", back_end.name, batch, lanes, images_per_s);
        std::fprintf(stderr, "%s\n", text);
        rates += text;
      }
    }
  }
  std::printf("{\"library\": %s, \"images\": %zu, \"rates\": [%s]}\n", there ? "true" : "false", count, rates.c_str());
  return 0;
}
