#include "stoker/doctor/facts_testing.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

// A long tail to the right, as sizes and costs have: 21 quantiles around `median`.
std::vector<double> skewed_quantiles(double median, double factor) {
  std::vector<double> quantiles;
  for (int i = -10; i <= 10; ++i) quantiles.push_back(median * std::pow(factor, i < 0 ? i / 10.0 : 1.5 * i / 10.0));
  return quantiles;
}

struct DiskSpeed {
  double bytes_per_s, reads_per_s, latency_s;
  const char* device_class;
};
constexpr DiskSpeed kNvme = {6e9, 600e3, 90e-6, "nvme"}, kSata = {0.53e9, 80e3, 150e-6, "sata-ssd"},
                    kTurning = {160e6, 150, 9e-3, "hdd"};

StorageFacts storage(const DiskSpeed& disk) {
  StorageFacts storage;
  storage.file_system = "ext4";
  storage.device = "a disk";
  storage.device_class = disk.device_class;
  storage.cold_bytes_per_s = figure(disk.bytes_per_s);
  storage.warm_bytes_per_s = figure(8e9);
  for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{110'000}, std::uint64_t{1'048'576}}) {
    for (const int depth : {1, 4, 16, 64}) {
      const double each_s = disk.latency_s + static_cast<double>(bytes) / disk.bytes_per_s;
      const double rate = std::min({disk.reads_per_s, depth / each_s, disk.bytes_per_s / static_cast<double>(bytes)});
      storage.cold.push_back({bytes, depth, figure(rate, 0.04), figure(depth / rate, 0.1)});
      const double warm = std::min(depth * 250e3, 8e9 / static_cast<double>(bytes));
      storage.warm.push_back({bytes, depth, figure(warm, 0.04), figure(depth / warm, 0.1)});
    }
  }
  storage.cold_opens_per_s = figure(0.8 * disk.reads_per_s, 0.05);
  storage.warm_opens_per_s = figure(300e3, 0.05);
  return storage;
}

StageFacts stage(const char* name, const char* kind, double cpu_s, double bytes_out) {
  StageFacts stage;
  stage.name = name;
  stage.kind = kind;
  stage.cpu_s = cpu_s;
  stage.bytes_out = bytes_out;
  return stage;
}

// Photographs like ImageNet's: a million of 110 KB, to 224 x 224.
Facts photographs(double cores, std::uint64_t memory_bytes) {
  Facts facts;
  facts.machine.name = "a machine for tests";
  facts.machine.cores = cores;
  facts.machine.memory_bytes = memory_bytes;
  facts.machine.network_bytes_per_s = 1.25e9;
  GpuFacts gpu;
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.link_bytes_per_s = 50e9;
  gpu.memory_bytes = 80 * kGiB;
  facts.machine.gpus.push_back(gpu);
  facts.storage = storage(kNvme);
  facts.cpu.stages = {stage("decode", "decode", 1.1e-3, 300e3), stage("resize", "geometry", 0.35e-3, 150e3),
                      stage("normalize", "color", 0.1e-3, 602e3)};
  facts.cpu.other_s = 0.05e-3;
  facts.cpu.sample_s = skewed_quantiles(1.5e-3, 2.5);
  for (int threads = 1; threads <= static_cast<int>(cores); threads *= 2) {
    facts.cpu.scaling.push_back({threads, figure(threads / facts.cpu.total_s() / (1 + 0.004 * (threads - 1)))});
  }
  facts.memory.copy_bytes_per_s = figure(12e9 * std::min(cores, 8.0));
  facts.memory.copied_bytes = 900e3;
  facts.copy.device = gpu.name;
  facts.copy.pinned_bytes_per_s = figure(25e9);
  facts.copy.pageable_bytes_per_s = figure(7e9);
  facts.copy.bytes_per_sample = {110e3, 300e3, 150e3, 602e3};
  facts.copy.cpu_s_per_sample = {0.02e-3, 1.1e-3, 1.45e-3, 1.55e-3};
  facts.copy.device_s = {30e-6, 8e-6, 2e-6, 0.0};
  facts.step.source = "seconds";
  facts.step.seconds = figure(0.1, 0.01);
  facts.step.batch = 256;
  facts.data.layout = "packed";
  facts.data.format = "tar";
  facts.data.samples = 1'280'000;
  facts.data.bytes = 110e3 * 1.28e6;
  facts.data.read_bytes = 110e3;
  facts.data.requests = 1;
  facts.data.record_bytes = 110'000;
  facts.data.record_bytes_quantiles = skewed_quantiles(110e3, 3);
  facts.data.codecs = {{"jpeg", 1.0}};
  facts.data.bits_per_pixel = 4.5;
  facts.run.batch = 256;
  facts.run.threads = static_cast<int>(cores);
  facts.run.prefetch = 2;
  facts.run.io_depth = 64;
  facts.run.transfer_index = 3;
  facts.run.order = "global";
  facts.run.memory_bytes = 4 * kGiB;
  return facts;
}

}  // namespace

Figure figure(double median, double spread) {
  return {.median = median, .low = median * (1 - spread), .high = median * (1 + spread), .count = 5};
}

Facts healthy_facts() { return photographs(64, 512 * kGiB); }

Facts few_cores_facts() {
  Facts facts = photographs(2, 16 * kGiB);
  facts.cpu.stages[0].cpu_s = 22e-3;
  facts.cpu.sample_s = skewed_quantiles(22.5e-3, 2);
  facts.cpu.scaling = {{1, figure(44)}, {2, figure(87)}};
  facts.copy.cpu_s_per_sample = {0.02e-3, 22e-3, 22.35e-3, 22.45e-3};
  facts.data.samples = 20'000;
  facts.data.read_bytes = 2.2e6;
  facts.data.bytes = 2.2e6 * 20e3;
  facts.data.record_bytes = 2'200'000;
  facts.data.record_bytes_quantiles = skewed_quantiles(2.2e6, 2);
  facts.step.batch = facts.run.batch = 64;
  return facts;
}

Facts small_files_facts() {
  Facts facts = photographs(16, 8 * kGiB);
  facts.storage = storage(kTurning);
  for (std::vector<ReadFacts>* reads : {&facts.storage->cold, &facts.storage->warm}) {
    std::erase_if(*reads, [](const ReadFacts& read) { return read.bytes > 110'000; });  // no file is larger
  }
  facts.data.layout = "loose";
  facts.data.format = "folder";
  facts.data.samples = 200'000;
  facts.data.bytes = 110e3 * 200e3;
  return facts;
}

Facts object_store_facts() {
  Facts facts = photographs(32, 64 * kGiB);
  facts.storage.reset();
  StoreFacts store;
  store.first_byte_s = figure(30e-3, 0.1);
  store.first_byte_s_p99 = 120e-3;
  store.connection_bytes_per_s = figure(90e6, 0.1);
  store.link_bytes_per_s = figure(1.1e9, 0.05);
  store.requests_per_s = figure(3000, 0.05);
  store.requests_at_once = 64;
  facts.store = store;
  return facts;
}

Facts eight_gpus_facts() {
  Facts facts = object_store_facts();
  facts.machine.cores = 128;
  facts.machine.memory_bytes = 256 * kGiB;
  facts.machine.gpus.resize(8, facts.machine.gpus.front());
  facts.step.gpus = 8;
  facts.run.threads = 16;
  facts.store->first_byte_s = figure(4e-3, 0.1);
  facts.store->first_byte_s_p99 = 9e-3;
  facts.store->requests_per_s = figure(80e3, 0.05);
  facts.data.samples = 12'800'000;
  facts.data.bytes = 110e3 * 12.8e6;
  facts.copy.together_bytes_per_s = figure(100e9, 0.05);
  facts.copy.together = 8;
  return facts;
}

Facts small_memory_facts() {
  Facts facts = photographs(32, 64 * kGiB);
  facts.storage = storage(kSata);
  facts.step.seconds = figure(0.025, 0.01);
  facts.run.cache = "ram";
  facts.run.cache_bytes = 45 * kGiB;
  facts.run.memory_bytes = 50 * kGiB;
  return facts;
}

Facts heavy_recipe_facts() {
  Facts facts = photographs(16, 256 * kGiB);
  facts.cpu.stages.insert(facts.cpu.stages.begin() + 2, stage("augment", "picture", 6e-3, 150e3));
  facts.cpu.sample_s = skewed_quantiles(7.5e-3, 1.8);
  facts.cpu.scaling.clear();
  for (const int threads : {1, 4, 16}) facts.cpu.scaling.push_back({threads, figure(threads / facts.cpu.total_s())});
  facts.copy.cpu_s_per_sample = {0.02e-3, 1.1e-3, 1.45e-3, 7.55e-3};
  facts.copy.device_s = {std::nullopt, std::nullopt, std::nullopt, 0.0};
  return facts;
}

}  // namespace stoker
