#include "stoker/plan/device_batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace stoker {
namespace {

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kDevicePlaceAlignment - 1) / kDevicePlaceAlignment * kDevicePlaceAlignment;
}

// What describes one image, in whatever form.
constexpr std::size_t kDescriptionBytesMax =
    sizeof(DeviceJpegImage) + std::max({sizeof(DevicePlanarImage), sizeof(DeviceRgbImage), sizeof(DeviceResized)});

// Planes decoded on the device may take so many times what the resized form does; larger ones are decoded on the host.
constexpr std::size_t kScratchPerResized = 2;

}  // namespace

DeviceBatchLayout::DeviceBatchLayout(const Plan& plan, int slots) : out(batch_offsets(plan.outputs(), slots)) {
  const auto count = static_cast<std::size_t>(slots);
  const std::vector<OutputSpec> specs = plan.outputs();
  std::size_t end = 0, all_resized = 0, image_views = 0;
  for (std::size_t view = 0; view < specs.size(); ++view) {
    scalars.push_back(end);
    resized.push_back(0);
    if (plan.views()[view].kind != ViewKind::kImage) {
      end += rounded_up(specs[view].bytes_per_sample() * count);
    } else {
      resized.back() = rounded_up(static_cast<std::size_t>(specs[view].shape.elements()));
      all_resized += resized.back() * count;
      ++image_views;
    }
  }
  repeats = end;
  // Of a sample with several images, one may turn out to be bad when others have had their room.
  items = repeats + (image_views > 1 ? all_resized : 0);
  items_max = all_resized;
  const std::size_t tables = kDevicePlaceAlignment * (3 * image_views + 1) + count * image_views * kDescriptionBytesMax;
  staging = std::max(items + items_max + tables, out.back());
  faults = staging + kScratchPerResized * all_resized;
  memory = faults + rounded_up(image_views * count * sizeof(std::uint32_t));
}

DeviceBatch::DeviceBatch(const Plan& plan, int slots, Device& device, std::uint8_t* out)
    : plan_(plan),
      slots_(slots),
      outputs_(plan.outputs()),
      layout_(plan, slots),
      staging_(device.staging(), layout_.staging),
      memory_(device.memory(), layout_.memory),
      faults_(device.staging(), layout_.memory - layout_.faults),
      out_(out),
      entries_(outputs_.size() * static_cast<std::size_t>(slots)) {}

void DeviceBatch::start(int transfer_index) {
  transfer_index_ = transfer_index;
  std::size_t reserved = 0;
  for (std::size_t view = 0; view < outputs_.size(); ++view) {
    for (int slot = 0; slot < slots_; ++slot) {
      entry(view, slot) = {.item = {}, .reserved = layout_.resized[view]};
      reserved += layout_.resized[view];
    }
  }
  reserved_ = reserved;
  placed_ = layout_.items;
  scratch_placed_ = layout_.staging;
  coded_slots_.clear();
}

MutableBytes DeviceBatch::finished(std::size_t view, int slot) const {
  assert(crosses_finished(view));
  const std::size_t bytes = outputs_[view].bytes_per_sample();
  const auto& offsets = transfer_index_ == kTransferIndexMax ? layout_.out : layout_.scalars;
  return {staging_.data() + offsets[view] + bytes * static_cast<std::size_t>(slot), bytes};
}

// Whether there is room for so much where less was reserved.
bool DeviceBatch::reserve(std::size_t instead_of, std::size_t bytes) {
  std::size_t reserved = reserved_.load();
  do {
    if (reserved - instead_of + bytes > layout_.items_max) return false;
  } while (!reserved_.compare_exchange_weak(reserved, reserved - instead_of + bytes));
  return true;
}

bool DeviceBatch::take_scratch(std::size_t bytes, std::uint64_t& place) {
  std::size_t placed = scratch_placed_.load();
  do {
    if (placed + rounded_up(bytes) > layout_.faults) return false;
  } while (!scratch_placed_.compare_exchange_weak(placed, placed + rounded_up(bytes)));
  place = placed;
  return true;
}

bool DeviceBatch::Room::grant(std::size_t bytes, std::size_t scratch_bytes, DeviceGrant& grant) {
  Entry& entry = batch_.entry(view_, slot_);
  if (entry.reserved == 0 || !batch_.reserve(entry.reserved, rounded_up(bytes))) return false;
  if (!batch_.take_scratch(scratch_bytes, grant.scratch)) {
    batch_.reserve(rounded_up(bytes), entry.reserved);
    return false;
  }
  entry.reserved = 0;
  grant.place = batch_.placed_.fetch_add(rounded_up(bytes));
  grant.staging = batch_.staging_.data() + grant.place;
  return true;
}

DeviceGrant DeviceBatch::grant_resized(std::size_t view, int slot) {
  DeviceGrant grant;
  if (entry(view, slot).reserved > 0) {
    grant.place = placed_.fetch_add(layout_.resized[view]);
    entry(view, slot).reserved = 0;
  } else {
    assert(layout_.items > layout_.repeats);
    std::size_t before = 0;
    for (std::size_t other = 0; other < view; ++other) before += layout_.resized[other];
    grant.place = layout_.repeats + before * static_cast<std::size_t>(slots_) +
                  layout_.resized[view] * static_cast<std::size_t>(slot);
  }
  grant.staging = staging_.data() + grant.place;
  return grant;
}

void DeviceBatch::put(std::size_t view, int slot, const DeviceItem& item) { entry(view, slot).item = item; }

const DeviceTask& DeviceBatch::seal() {
  task_.copies_in.clear();
  task_.launches.clear();
  task_.copies_out.clear();
  coded_slots_.clear();
  if (transfer_index_ == kTransferIndexMax) {
    task_.copies_in.push_back({out_, staging_.data(), layout_.out.back()});
    return task_;
  }
  decode();
  for (std::size_t view = 0; view < outputs_.size(); ++view) seal_view(view);
  task_.copies_in.push_back({memory_.data() + layout_.items, staging_.data() + layout_.items, placed_ - layout_.items});
  return task_;
}

// Puts rows behind what was placed so far; returns where they will be on the device.
template <typename T>
const T* DeviceBatch::place_table(const std::vector<T>& rows) {
  const std::size_t bytes = rows.size() * sizeof(T), place = placed_.fetch_add(rounded_up(bytes));
  assert(place + bytes <= layout_.staging);
  std::memcpy(staging_.data() + place, rows.data(), bytes);
  return reinterpret_cast<const T*>(memory_.data() + place);
}

// All images that cross coded, of whatever view.
void DeviceBatch::decode() {
  jpegs_.clear();
  DeviceLaunch totals;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto* const coded = std::get_if<DeviceCodedImage>(&entries_[i].item);
    if (!coded) continue;
    jpegs_.push_back(coded->jpeg);
    jpegs_.back().first_block = totals.blocks;
    totals.blocks += DeviceJpegKernel::blocks(coded->jpeg);
    totals.bytes += coded->jpeg.sample_bytes;
    totals.coded_bytes += coded->jpeg.data_bytes;
    coded_slots_.push_back(static_cast<int>(i % static_cast<std::size_t>(slots_)));
  }
  if (jpegs_.empty()) return;
  auto* const faults = reinterpret_cast<std::uint32_t*>(memory_.data() + layout_.faults);
  const std::size_t bytes = jpegs_.size() * sizeof(std::uint32_t);
  task_.copies_in.push_back({memory_.data() + layout_.faults, nullptr, bytes});
  DeviceLaunch launch = DeviceLaunch::of<DeviceJpegKernel>({.memory = memory_.data(),
                                                            .images = place_table(jpegs_),
                                                            .image_count = static_cast<std::int32_t>(jpegs_.size()),
                                                            .faults = faults},
                                                           totals.blocks);
  launch.bytes = totals.bytes;
  launch.coded_bytes = totals.coded_bytes;
  task_.launches.push_back(launch);
  task_.copies_out.push_back({faults_.data(), memory_.data() + layout_.faults, bytes});
}

template <class Kernel, class Image, class HeightOf>
void DeviceBatch::launch_geometry(std::vector<Image>& images, const DeviceColor& color, HeightOf height_of) {
  if (images.empty()) return;
  int blocks = 0;
  std::uint64_t bytes = color.slot_bytes * images.size();
  for (Image& image : images) {
    image.first_block = blocks;
    blocks += (height_of(image) + image.rows - 1) / image.rows;
    bytes += image.source_bytes;
  }
  task_.launches.push_back(DeviceLaunch::of<Kernel>({.memory = memory_.data(),
                                                     .out = out_,
                                                     .images = place_table(images),
                                                     .image_count = static_cast<std::int32_t>(images.size()),
                                                     .color = color},
                                                    blocks));
  task_.launches.back().bytes = bytes;
}

void DeviceBatch::seal_view(std::size_t view) {
  const ViewPlan& plan = plan_.views()[view];
  std::uint8_t* const out = out_ + layout_.out[view];
  const std::size_t slot_bytes = outputs_[view].bytes_per_sample();
  if (plan.kind != ViewKind::kImage) {
    const std::size_t bytes = slot_bytes * static_cast<std::size_t>(slots_);
    task_.copies_in.push_back({out, staging_.data() + layout_.scalars[view], bytes});
    return;
  }
  planars_.clear();
  rgbs_.clear();
  resized_.clear();
  for (int slot = 0; slot < slots_; ++slot) {
    const DeviceItem& item = entry(view, slot).item;
    if (const auto* const coded = std::get_if<DeviceCodedImage>(&item)) {
      planars_.push_back(coded->planar);
      planars_.back().slot = slot;
    } else if (const auto* const planar = std::get_if<DevicePlanarImage>(&item)) {
      planars_.push_back(*planar);
      planars_.back().slot = slot;
    } else if (const auto* const rgb = std::get_if<DeviceRgbImage>(&item)) {
      rgbs_.push_back(*rgb);
      rgbs_.back().slot = slot;
    } else if (const auto* const resized = std::get_if<DeviceResized>(&item)) {
      resized_.push_back(*resized);
      resized_.back().slot = slot;
      const std::uint64_t place = resized->samples;
      if (place < layout_.items) {  // in the room for repeats
        task_.copies_in.push_back({memory_.data() + place, staging_.data() + place, layout_.resized[view]});
      }
    } else {
      task_.copies_in.push_back({out + slot_bytes * static_cast<std::size_t>(slot), nullptr, slot_bytes});
    }
  }
  const ImageSize size = *plan.image.geometry.output_size();
  DeviceColor color(plan.image.color, plan.image.format, size.width, size.height);
  color.out_begin = layout_.out[view];
  launch_geometry<DevicePlanarKernel>(planars_, color, [](const DevicePlanarImage& image) { return image.height; });
  launch_geometry<DeviceRgbKernel>(rgbs_, color, [&](const DeviceRgbImage&) { return size.height; });
  if (resized_.empty()) return;
  const int blocks = DeviceColorKernel::blocks_per_image(color);
  task_.launches.push_back(DeviceLaunch::of<DeviceColorKernel>({.memory = memory_.data(),
                                                                .out = out_,
                                                                .images = place_table(resized_),
                                                                .color = color,
                                                                .blocks_per_image = blocks},
                                                               blocks * static_cast<int>(resized_.size())));
  task_.launches.back().bytes = resized_.size() * (color.slot_bytes + 3 * static_cast<std::uint64_t>(size.width) *
                                                                          static_cast<std::uint64_t>(size.height));
}

std::uint64_t DeviceBatch::bytes_to_device() const {
  std::uint64_t bytes = 0;
  for (const DeviceCopy& copy : task_.copies_in) bytes += copy.from ? copy.bytes : 0;
  return bytes;
}

std::optional<int> DeviceBatch::faulty_slot() const {
  const auto* const faults = reinterpret_cast<const std::uint32_t*>(faults_.data());
  std::optional<int> first;
  for (std::size_t i = 0; i < coded_slots_.size(); ++i) {
    if (faults[i] != 0 && (!first || coded_slots_[i] < *first)) first = coded_slots_[i];
  }
  return first;
}

}  // namespace stoker
