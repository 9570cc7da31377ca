#include "stoker/runtime/loader_testing.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

namespace {

/// What an index would add.
class WithIndex final : public ShardedDataset {
 public:
  WithIndex(std::shared_ptr<Source> source, SampleTable table, const std::vector<std::vector<std::uint8_t>>& each,
            Soundness soundness)
      : ShardedDataset(std::move(source), std::move(table), {}), soundness_(soundness) {
    std::vector<std::uint8_t> all;
    for (const std::vector<std::uint8_t>& points : each) {
      begins_.push_back(all.size());
      all.insert(all.end(), points.begin(), points.end());
    }
    begins_.push_back(all.size());
    points_ = std::make_shared<MemorySource>("memory.sidx", std::move(all));
  }

  void read(std::int64_t sample, SampleRow& into) const override {
    ShardedDataset::read(sample, into);
    into.soundness = soundness_;
    const auto at = static_cast<std::size_t>(sample);
    into.entry_points.offset = begins_[at];
    into.entry_points.length = begins_[at + 1] - begins_[at];
    into.entry_points_source = points_.get();
  }

 private:
  const Soundness soundness_;
  std::vector<std::uint64_t> begins_;
  std::shared_ptr<Source> points_;
};

std::vector<std::uint8_t> entry_points_of(Bytes encoded) {
  std::vector<std::uint8_t> points;
  AnyImageDecoder decoder;
  try {
    decoder.decodes_cleanly(encoded, decoder.read_facts(encoded), points);
  } catch (const Error&) {  // no image
  }
  return points;
}

}  // namespace

MemoryDataset memory_dataset(const MemoryDatasetOptions& options) {
  std::vector<std::uint8_t> bytes;
  SampleTable table;
  std::vector<std::uint8_t> image;
  std::vector<std::vector<std::uint8_t>> points;
  for (int i = 0; i < options.samples; ++i) {
    if (image.empty() || !options.tiny)
      image = noisy_jpeg(options.width + i % 5, options.height + i % 3, static_cast<std::uint64_t>(i));
    std::vector<std::uint8_t> stored = image;
    if (std::find(options.bad.begin(), options.bad.end(), i) != options.bad.end()) stored.assign(50, 'x');
    table.add_sample(fmt::format("sample{}", i), i % 7);
    table.add_field("jpg", "", bytes.size(), stored.size());
    if (options.indexed || options.concealed) {
      points.push_back(options.indexed ? entry_points_of(stored) : std::vector<std::uint8_t>());
    }
    bytes.insert(bytes.end(), stored.begin(), stored.end());
    bytes.resize(bytes.size() + options.gap);
  }
  MemoryDataset result;
  result.source =
      std::make_shared<FaultySource>(std::make_shared<MemorySource>("memory.tar", std::move(bytes)), options.faults);
  if (options.indexed || options.concealed) {
    result.dataset = std::make_shared<WithIndex>(result.source, std::move(table), points,
                                                 options.concealed ? Soundness::kConcealed : Soundness::kUnknown);
  } else {
    result.dataset = std::make_shared<ShardedDataset>(result.source, std::move(table), std::vector<std::string>{});
  }
  return result;
}

Recipe small_recipe() { return Recipe().decode().random_resized_crop(16).random_flip().normalize("imagenet"); }

std::vector<std::string> audit_of(const Batch& batch) {
  std::vector<std::string> lines;
  std::vector<std::vector<std::uint8_t>> room(batch.outputs().size());
  for (int slot = 0; slot < batch.size(); ++slot) {
    if (!batch.valid(slot)) continue;
    Hasher64 hasher;
    const auto at = static_cast<std::size_t>(slot);
    for (std::size_t output = 0; output < room.size(); ++output) {
      hasher.update(batch.slot_bytes(output, slot, batch.host_bytes(output, room[output]).data()));
    }
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
