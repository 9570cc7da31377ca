// What the machine can do at best: copies from pinned memory to the GPU and back, and reads and writes of the GPU's own
// memory. Prints one JSON object. Usage: gpu_bandwidth [GPU]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/gpu/check.h"

namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;  // far beyond every cache
constexpr int kPasses = 20;

__global__ void copy_words(uint4* to, const uint4* from, std::size_t words) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride) to[i] = from[i];
}

// Bytes per second, the median of some passes.
template <class Pass>
double rate(std::size_t bytes, Pass pass) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> rates;
  for (int i = 0; i < kPasses; ++i) {
    check(cudaEventRecord(begin), "event");
    pass();
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "pass");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    rates.push_back(static_cast<double>(bytes) / (static_cast<double>(milliseconds) * 1e-3));
  }
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  std::nth_element(rates.begin(), rates.begin() + kPasses / 2, rates.end());
  return rates[kPasses / 2];
}

void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const int gpu = argc > 1 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 0;
  check(cudaSetDevice(gpu), "GPU");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, gpu), "GPU");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "driver");
  check(cudaRuntimeGetVersion(&runtime), "runtime");

  std::uint8_t *host = nullptr, *back = nullptr, *from = nullptr, *to = nullptr;
  check(cudaMallocHost(&host, kBytes), "pinned memory");
  check(cudaMallocHost(&back, kBytes), "pinned memory");
  check(cudaMalloc(&from, kBytes), "memory");
  check(cudaMalloc(&to, kBytes), "memory");
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < kBytes; ++i)
    host[i] = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);

  const double to_gpu =
      rate(kBytes, [&] { check(cudaMemcpyAsync(from, host, kBytes, cudaMemcpyHostToDevice), "copy"); });
  // By a kernel and by the driver's own copy: whichever is faster. Each byte is read and written.
  const int blocks = properties.multiProcessorCount * 16;
  const double kernel = rate(2 * kBytes, [&] {
    copy_words<<<static_cast<unsigned>(blocks), 512>>>(reinterpret_cast<uint4*>(to),
                                                       reinterpret_cast<const uint4*>(from), kBytes / sizeof(uint4));
    check(cudaPeekAtLastError(), "kernel");
  });
  const double from_gpu =
      rate(kBytes, [&] { check(cudaMemcpyAsync(back, to, kBytes, cudaMemcpyDeviceToHost), "copy"); });
  if (!std::equal(host, host + kBytes, back)) fail("what came back from the GPU is not what went there");
  const double driver_copy =
      rate(2 * kBytes, [&] { check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice), "copy"); });

  std::printf(
      "{\"gpu\": \"%s\", \"compute_capability\": \"%d.%d\", \"memory_bytes\": %zu, \"driver_cuda\": \"%d.%d\", "
      "\"runtime_cuda\": \"%d.%d\", \"copy_to_gpu_bytes_per_s\": %.4g, \"copy_from_gpu_bytes_per_s\": %.4g, "
      "\"memory_bytes_per_s\": %.4g}\n",
      properties.name, properties.major, properties.minor, properties.totalGlobalMem, driver / 1000, driver % 1000 / 10,
      runtime / 1000, runtime % 1000 / 10, to_gpu, from_gpu, std::max(kernel, driver_copy));
  return 0;
}
