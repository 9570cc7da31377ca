#include "stoker/runtime/loader_testing.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/hash.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/sharded_dataset.h"
#include "stoker/storage/memory_source.h"

namespace stoker {

MemoryDataset memory_dataset(const MemoryDatasetOptions& options) {
  std::vector<std::uint8_t> bytes;
  SampleTable table;
  std::vector<std::uint8_t> image;
  for (int i = 0; i < options.samples; ++i) {
    if (image.empty() || !options.tiny)
      image = noisy_jpeg(options.width + i % 5, options.height + i % 3, static_cast<std::uint64_t>(i));
    std::vector<std::uint8_t> stored = image;
    if (std::find(options.bad.begin(), options.bad.end(), i) != options.bad.end()) stored.assign(50, 'x');
    table.add_sample(fmt::format("sample{}", i), i % 7);
    table.add_field("jpg", "", bytes.size(), stored.size());
    bytes.insert(bytes.end(), stored.begin(), stored.end());
    bytes.resize(bytes.size() + options.gap);
  }
  MemoryDataset result;
  result.source =
      std::make_shared<FaultySource>(std::make_shared<MemorySource>("memory.tar", std::move(bytes)), options.faults);
  result.dataset = std::make_shared<ShardedDataset>(result.source, std::move(table), std::vector<std::string>{});
  return result;
}

Recipe small_recipe() { return Recipe().decode().random_resized_crop(16).random_flip().normalize("imagenet"); }

std::vector<std::string> audit_of(const Batch& batch) {
  std::vector<std::string> lines;
  for (int slot = 0; slot < batch.size(); ++slot) {
    if (!batch.valid(slot)) continue;
    Hasher64 hasher;
    for (std::size_t output = 0; output < batch.outputs().size(); ++output)
      hasher.update(batch.slot_bytes(output, slot));
    const auto at = static_cast<std::size_t>(slot);
    lines.push_back(
        fmt::format("{} {} {} {}", batch.epoch, batch.position[at], batch.key[at], to_hex(hasher.digest())));
  }
  return lines;
}

std::vector<std::string> audit_of(Loader& loader, int epochs) {
  std::vector<std::string> lines;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace stoker
