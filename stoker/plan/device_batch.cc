#include "stoker/plan/device_batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/tensor/arrangement.h"

namespace stoker {
namespace {

// Bytes of a batch's outputs that are copied, although they are not needed, rather than beginning a copy of each
// output.
constexpr std::size_t kUnusedCopied = std::size_t{256} << 10;

// What describes one image, in whatever form.
constexpr std::size_t kDescriptionBytesMax =
    sizeof(DeviceJpegImage) + std::max({sizeof(DevicePlanarImage), sizeof(DeviceRgbImage), sizeof(DeviceResized)});

// An image takes at most so many times its resized form, or what an image of the data does, coded, on average.
constexpr std::size_t kRoomPerImage = 2;

// Images that are decoded on the device have so much memory for their coefficients and planes: this at least, and as
// much as all of a batch are likely to take, but no more than keeps a GPU busy. Where they take more, they are decoded
// in waves, and one image may have all of it.
constexpr std::size_t kScratchMin = std::size_t{16} << 20, kScratchMax = std::size_t{512} << 20;
constexpr std::size_t kScratchPerCodedByte = 8;

std::size_t image_bytes_of(ImageSize size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * ColorMap::kChannels;
}

}  // namespace

DeviceBatchLayout::DeviceBatchLayout(const Plan& plan, int slots, std::size_t image_bytes, bool nvjpeg)
    : out(batch_offsets(plan.outputs(), slots)) {
  const auto count = static_cast<std::size_t>(slots);
  const std::vector<OutputSpec> specs = plan.outputs();
  std::size_t end = 0, all_resized = 0, all_room = 0, image_views = 0;
  for (std::size_t view = 0; view < specs.size(); ++view) {
    scalars.push_back(end);
    resized.push_back(0);
    room.push_back(0);
    pictures.emplace_back();
    if (plan.views()[view].kind != ViewKind::kImage) {
      end += device_place_bytes(specs[view].arrangement->bytes_max(specs[view], slots));
    } else {
      const ImageSize canvas = plan.views()[view].image.canvas_size();
      resized.back() = device_place_bytes(image_bytes_of(canvas));
      room.back() = device_place_bytes(kRoomPerImage * std::max(resized.back(), image_bytes));
      all_resized += resized.back() * count;
      all_room += room.back() * count;
      ++image_views;
      pictures.back() = DevicePictureRoom(plan.views()[view].image, count);
    }
  }
  repeats = end;
  // A sample may turn out to be bad when its image has had its room: by another of its images, or in a function.
  items = repeats + (image_views > 1 || !plan.functions().empty() ? all_resized : 0);
  // At worst each coded image is a wave of its own, with tables of its own.
  const std::size_t tables = count * image_views * (kDescriptionBytesMax + 2 * kDevicePlaceAlignment) +
                             kDevicePlaceAlignment * 3 * image_views;
  std::size_t more_tables = 0;
  for (const DevicePictureRoom& each : pictures) more_tables += each.table_bytes;
  for (const ViewPlan& view : plan.views()) more_tables += ErasedTensors::table_bytes(view.image, count);
  more_tables += MixedImages::table_bytes(plan.mixing(), count);
  staging = std::max(items + all_room + tables + more_tables, out.back());
  scratch = std::clamp(std::max(all_resized, count * image_views * image_bytes * kScratchPerCodedByte),
                       nvjpeg ? std::max(kFileScratchMax, kScratchMin) : kScratchMin, kScratchMax);
  fault_words_end = staging + device_place_bytes(image_views * count * sizeof(std::uint32_t));
  memory = fault_words_end;
  for (DevicePictureRoom& each : pictures) {
    each.begin = memory;
    memory += each.stride * count;
  }
}

DeviceBatch::DeviceBatch(const Plan& plan, int slots, std::size_t image_bytes, Device& device, std::uint8_t* out,
                         bool nvjpeg)
    : plan_(plan),
      slots_max_(slots),
      outputs_(plan.outputs()),
      layout_(plan, slots, image_bytes, nvjpeg),
      staging_(device.staging(), layout_.staging),
      memory_(device.memory(), layout_.memory),
      scratch_(device.scratch(layout_.scratch)),
      faults_(device.staging(), layout_.fault_words_end - layout_.staging),
      out_(out),
      nvjpeg_(nvjpeg),
      entries_(outputs_.size() * static_cast<std::size_t>(slots)),
      used_(outputs_.size()) {}

void DeviceBatch::start(int transfer_index, int slots) {
  assert(slots <= slots_max_);
  transfer_index_ = transfer_index;
  slots_ = slots;
  entries_.assign(outputs_.size() * static_cast<std::size_t>(slots), {});
  placed_ = layout_.items;
  coded_.clear();
  file_begin_ = 0;
}

std::uint8_t* DeviceBatch::finished_part(std::size_t view) const {
  assert(crosses_finished(view));
  return staging_.data() + (crosses_as() == ImageForm::kFinished ? layout_.out : layout_.scalars)[view];
}

MutableBytes DeviceBatch::place(std::size_t view, int slot, const Shape& shape) {
  return outputs_[view].arrangement->place(outputs_[view], slots_, finished_part(view), slot, shape);
}

void DeviceBatch::pad(int slot) {
  for (std::size_t view = 0; view < outputs_.size(); ++view) {
    if (crosses_finished(view)) {
      outputs_[view].arrangement->pad(outputs_[view], slots_, finished_part(view), slot);
    } else {
      put(view, slot, {});
    }
  }
}

bool DeviceBatch::Room::grant(std::size_t bytes, std::size_t scratch_bytes, DeviceGrant& grant) {
  std::size_t room = 0;
  for (const std::size_t view : views_) {
    if (batch_.entry(view, slot_).had_room) return false;
    room += batch_.layout_.room[view];
  }
  if (device_place_bytes(bytes) > room || scratch_bytes > batch_.layout_.scratch) return false;
  for (const std::size_t view : views_) batch_.entry(view, slot_).had_room = true;
  grant.place = batch_.placed_.fetch_add(device_place_bytes(bytes));
  grant.staging = batch_.staging_.data() + grant.place;
  return true;
}

DeviceGrant DeviceBatch::grant_resized(std::size_t view, int slot) {
  DeviceGrant grant;
  if (!entry(view, slot).had_room) {
    grant.place = placed_.fetch_add(layout_.resized[view]);
    entry(view, slot).had_room = true;
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

void DeviceBatch::put(std::size_t view, int slot, const DeviceItem& item, const SampleDraw& draw,
                      std::span<const PictureStep> first_steps) {
  Entry& of = entry(view, slot);
  of.item = item;
  of.draw = draw;
  of.first_steps = first_steps.size();
  std::copy(first_steps.begin(), first_steps.end(), of.first_step.begin());
}

const DeviceTask& DeviceBatch::seal(const DrawnMixing& mixing) {
  task_.copies_in.clear();
  task_.launches.clear();
  task_.decodes.clear();
  task_.copies_out.clear();
  seal_finished();
  if (crosses_as() == ImageForm::kFinished) {
    copy_finished();
    return task_;
  }
  find_coded();
  for (const Wave& wave : waves_) {
    if (wave.first < file_begin_) {
      decode_entry_points(wave);
    } else {
      decode_files(wave);
    }
    seal_wave(wave);
  }
  for (std::size_t view = 0; view < outputs_.size(); ++view) seal_view(view);
  if (mixing.mixer) seal_mixing(mixing);
  task_.copies_in.push_back({memory_.data() + layout_.items, staging_.data() + layout_.items, placed_ - layout_.items});
  return task_;
}

void DeviceBatch::seal_finished() {
  for (std::size_t view = 0; view < outputs_.size(); ++view) {
    const OutputSpec& spec = outputs_[view];
    used_[view] = crosses_finished(view) ? spec.arrangement->seal(spec, slots_, finished_part(view))
                                         : spec.bytes_per_sample() * static_cast<std::size_t>(slots_);
  }
}

// Whole outputs, and all of them at once if all of their memory is used.
void DeviceBatch::copy_finished() {
  std::size_t unused = layout_.out.back();
  for (const std::size_t used : used_) unused -= used;
  if (unused < kUnusedCopied) return task_.copies_in.push_back({out_, staging_.data(), layout_.out.back()});
  for (std::size_t view = 0; view < outputs_.size(); ++view) {
    task_.copies_in.push_back({out_ + layout_.out[view], finished_part(view), used_[view]});
  }
}

namespace {

void move_samples(DeviceCodedImage& image, std::size_t by) {
  image.jpeg.coefficients += by;
  for (auto& component : image.jpeg.component) component.samples += by;
}

void move_samples(DeviceFileImage& image, std::size_t by) {
  for (std::uint64_t& samples : image.samples) samples += by;
}

void move_samples(DevicePlanarImage& image, std::size_t by) {
  for (auto& plane : image.plane) plane.samples += by;
}

}  // namespace

// The images of a kind, of whatever view, and where their planes will be.
template <class Image>
void DeviceBatch::place_coded() {
  std::size_t scratch = layout_.scratch;  // full
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto* const image = std::get_if<Image>(&entries_[i].item);
    if (!image) continue;
    if (scratch + image->scratch_bytes > layout_.scratch) {
      waves_.push_back({coded_.size(), coded_.size()});
      scratch = 0;
    }
    move_samples(*image, scratch);
    move_samples(image->planar, scratch);
    const auto slots = static_cast<std::size_t>(slots_);
    for (std::size_t shared = i % slots; shared < entries_.size(); shared += slots) {
      auto* const other = std::get_if<DeviceSharedImage>(&entries_[shared].item);
      if (other && other->of == i / slots) move_samples(other->planar, scratch);
    }
    scratch += device_place_bytes(image->scratch_bytes);
    coded_.push_back(i);
    waves_.back().end = coded_.size();
  }
}

void DeviceBatch::find_coded() {
  waves_.clear();
  coded_.clear();
  place_coded<DeviceCodedImage>();
  file_begin_ = coded_.size();
  place_coded<DeviceFileImage>();
  if (coded_.empty()) return;
  const std::size_t bytes = coded_.size() * sizeof(std::uint32_t);
  task_.copies_in.push_back({memory_.data() + layout_.staging, nullptr, bytes});
  task_.copies_out.push_back({faults_.data(), memory_.data() + layout_.staging, bytes});
}

const DevicePlanarImage* DeviceBatch::planar_of(std::size_t view, std::size_t coded) {
  const auto slots = static_cast<std::size_t>(slots_);
  const DeviceItem& item = entries_[view * slots + coded % slots].item;
  if (const auto* const shared = std::get_if<DeviceSharedImage>(&item)) {
    return shared->of == coded / slots ? &shared->planar : nullptr;
  }
  if (view != coded / slots) return nullptr;
  if (const auto* const image = std::get_if<DeviceCodedImage>(&item)) return &image->planar;
  return &std::get<DeviceFileImage>(item).planar;
}

// What follows when its planes are there.
void DeviceBatch::seal_wave(const Wave& wave) {
  for (std::size_t view = 0; view < outputs_.size(); ++view) {
    planars_.clear();
    for (std::size_t i = wave.first; i < wave.end; ++i) {
      const DevicePlanarImage* const image = planar_of(view, coded_[i]);
      if (!image) continue;
      planars_.push_back(*image);
      planars_.back().slot = static_cast<std::int32_t>(coded_[i] % static_cast<std::size_t>(slots_));
    }
    if (planars_.empty()) continue;
    launch_geometry<DevicePlanarKernel>(planars_, *scratch_, color_after_geometry(view),
                                        [](const auto& image) { return image.height; });
  }
}

// Puts rows behind what was placed so far; returns where they will be on the device.
template <typename T>
const T* DeviceBatch::place_table(const std::vector<T>& rows) {
  const std::size_t bytes = rows.size() * sizeof(T), place = placed_.fetch_add(device_place_bytes(bytes));
  assert(place + bytes <= layout_.staging);
  std::memcpy(staging_.data() + place, rows.data(), bytes);
  return reinterpret_cast<const T*>(memory_.data() + place);
}

std::uint32_t* DeviceBatch::fault_word(std::size_t coded) const {
  return reinterpret_cast<std::uint32_t*>(memory_.data() + layout_.staging) + coded;
}

void DeviceBatch::decode_files(const Wave& wave) {
  for (std::size_t i = wave.first; i < wave.end; ++i) {
    const auto& image = std::get<DeviceFileImage>(entries_[coded_[i]].item);
    DeviceDecode decode = image.decode;
    for (int p = 0; p < decode.plane_count; ++p) decode.plane[p].samples = scratch_->data() + image.samples[p];
    decode.fault = fault_word(i);
    decode.before_launch = task_.launches.size();
    task_.decodes.push_back(decode);
  }
}

void DeviceBatch::decode_entry_points(const Wave& wave) {
  jpegs_.clear();
  int blocks = 0, transform_blocks = 0;
  std::uint64_t sample_bytes = 0, coded_bytes = 0;
  for (std::size_t i = wave.first; i < wave.end; ++i) {
    DeviceJpegImage& jpeg = jpegs_.emplace_back(std::get<DeviceCodedImage>(entries_[coded_[i]].item).jpeg);
    jpeg.first_block = blocks;
    jpeg.first_transform_block = transform_blocks;
    blocks += DeviceJpegKernel::blocks(jpeg);
    transform_blocks += DeviceJpegTransformKernel::blocks(jpeg);
    sample_bytes += jpeg.sample_bytes;
    coded_bytes += jpeg.data_bytes;
  }
  const DeviceJpegArgs args{.memory = memory_.data(),
                            .scratch = scratch_->data(),
                            .images = place_table(jpegs_),
                            .image_count = static_cast<std::int32_t>(jpegs_.size()),
                            .faults = fault_word(wave.first)};
  const std::uint64_t coefficient_bytes = sample_bytes * sizeof(std::int16_t);
  task_.launches.push_back(DeviceLaunch::of<DeviceJpegKernel>(args, blocks));
  task_.launches.back().bytes = coefficient_bytes;
  task_.launches.back().coded_bytes = coded_bytes;
  task_.launches.push_back(DeviceLaunch::of<DeviceJpegTransformKernel>(args, transform_blocks));
  task_.launches.back().bytes = coefficient_bytes + sample_bytes;
}

template <class Kernel, class Image, class HeightOf>
void DeviceBatch::launch_geometry(std::vector<Image>& images, const Memory& samples, const ColorStep& step,
                                  HeightOf height_of) {
  if (images.empty()) return;
  int blocks = 0;
  std::uint64_t bytes = step.color.tensor_bytes() * images.size();
  for (Image& image : images) {
    image.first_block = blocks;
    blocks += (height_of(image) + image.rows - 1) / image.rows;
    bytes += image.source_bytes;
  }
  task_.launches.push_back(DeviceLaunch::of<Kernel>({.memory = memory_.data(),
                                                     .samples = samples.data(),
                                                     .out = step.out,
                                                     .images = place_table(images),
                                                     .image_count = static_cast<std::int32_t>(images.size()),
                                                     .color = step.color},
                                                    blocks));
  task_.launches.back().bytes = bytes;
}

DeviceColor DeviceBatch::color_of(std::size_t view) const {
  const ImageProgram& image = plan_.views()[view].image;
  const ImageSize size = image_size_of(outputs_[view]);
  DeviceColor color(image.color, image.format, size.width, size.height);
  color.out_begin = layout_.out[view];
  return color;
}

DeviceBatch::ColorStep DeviceBatch::color_after_geometry(std::size_t view) const {
  const ImageProgram& image = plan_.views()[view].image;
  if (image.picture.empty()) return {color_of(view), out_};
  const ImageSize size = image.source_warp.canvas(image_size_of(outputs_[view]));
  DeviceColor color(ColorMap(), kPictureFormat, size.width, size.height);
  color.out_begin = layout_.pictures[view].begin;
  color.slot_bytes = layout_.pictures[view].stride;
  return {color, memory_.data()};
}

void DeviceBatch::seal_view(std::size_t view) {
  const ViewPlan& plan = plan_.views()[view];
  std::uint8_t* const out = out_ + layout_.out[view];
  if (plan.kind != ViewKind::kImage) return task_.copies_in.push_back({out, finished_part(view), used_[view]});
  planars_.clear();
  rgbs_.clear();
  resized_.clear();
  const std::size_t slot_bytes = outputs_[view].bytes_per_sample();
  for (int slot = 0; slot < slots_; ++slot) {
    const DeviceItem& item = entry(view, slot).item;
    const auto put_into = [slot](auto& images, auto image) { images.emplace_back(image).slot = slot; };
    if (std::holds_alternative<DeviceCodedImage>(item) || std::holds_alternative<DeviceFileImage>(item) ||
        std::holds_alternative<DeviceSharedImage>(item)) {
      continue;  // of a wave
    }
    if (const auto* const planar = std::get_if<DevicePlanarImage>(&item)) {
      put_into(planars_, *planar);
    } else if (const auto* const rgb = std::get_if<DeviceRgbImage>(&item)) {
      put_into(rgbs_, *rgb);
    } else if (const auto* const resized = std::get_if<DeviceResized>(&item)) {
      put_into(resized_, *resized);
      const std::uint64_t place = resized->samples;
      if (place < layout_.items) {  // in the room for repeats
        task_.copies_in.push_back({memory_.data() + place, staging_.data() + place, layout_.resized[view]});
      }
    } else {
      task_.copies_in.push_back({out + slot_bytes * static_cast<std::size_t>(slot), nullptr, slot_bytes});
    }
  }
  const ImageSize size = plan.image.source_warp.canvas(image_size_of(outputs_[view]));
  const ColorStep step = color_after_geometry(view);
  launch_geometry<DevicePlanarKernel>(planars_, memory_, step,
                                      [](const DevicePlanarImage& image) { return image.height; });
  launch_geometry<DeviceRgbKernel>(rgbs_, memory_, step, [&](const DeviceRgbImage&) { return size.height; });
  launch_color(step);
  if (!plan.image.picture.empty()) seal_pictures(view);
  if (!plan.image.erase.empty()) seal_erased(view);
}

// Of resized_.
void DeviceBatch::launch_color(const ColorStep& step) {
  if (resized_.empty()) return;
  const int blocks = DeviceColorKernel::blocks_per_image(step.color);
  task_.launches.push_back(DeviceLaunch::of<DeviceColorKernel>({.memory = memory_.data(),
                                                                .out = step.out,
                                                                .images = place_table(resized_),
                                                                .color = step.color,
                                                                .blocks_per_image = blocks},
                                                               blocks * static_cast<int>(resized_.size())));
  task_.launches.back().bytes =
      resized_.size() * (step.color.tensor_bytes() + 3 * static_cast<std::uint64_t>(step.color.width) *
                                                         static_cast<std::uint64_t>(step.color.height));
}

void DeviceBatch::seal_pictures(std::size_t view) {
  const ImageProgram& image = plan_.views()[view].image;
  rounds_.start(image, image_size_of(outputs_[view]), layout_.pictures[view], memory_.data());
  for (int slot = 0; slot < slots_; ++slot) {
    const Entry& each = entry(view, slot);
    if (!std::holds_alternative<std::monostate>(each.item))
      rounds_.add(slot, each.draw, std::span(each.first_step).first(each.first_steps));
  }
  rounds_.place_steps(place_table(rounds_.steps()));
  while (rounds_.next()) {
    if (!rounds_.counted().empty()) {
      task_.launches.push_back(rounds_.launch_facts(place_table(rounds_.counted())));
    }
    if (!rounds_.by_pixels().empty()) {
      task_.launches.push_back(rounds_.launch_pixels(place_table(rounds_.by_pixels())));
    }
    if (!rounds_.by_blocks().empty()) {
      task_.launches.push_back(rounds_.launch_blocks(place_table(rounds_.by_blocks())));
    }
  }
  resized_.clear();
  rounds_.results(resized_);
  launch_color({color_of(view), out_});
}

void DeviceBatch::seal_erased(std::size_t view) {
  erased_.start(plan_.views()[view].image, image_size_of(outputs_[view]));
  for (int slot = 0; slot < slots_; ++slot) {
    const Entry& each = entry(view, slot);
    if (!std::holds_alternative<std::monostate>(each.item)) erased_.add(slot, each.draw);
  }
  if (erased_.tensors().empty()) return;
  task_.launches.push_back(
      erased_.launch(place_table(erased_.tensors()), place_table(erased_.steps()), color_of(view), out_));
}

void DeviceBatch::seal_mixing(const DrawnMixing& mixing) {
  const std::vector<MixStep>& steps = mixing.mixer->steps();
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const std::size_t view : steps[step].images) {
      mixed_.gather(mixing, step, view, slots_);
      if (mixed_.mixes().empty()) continue;
      task_.launches.push_back(mixed_.launch(place_table(mixed_.mixes()), outputs_[view], out_ + layout_.out[view]));
    }
  }
}

std::uint64_t DeviceBatch::bytes_to_device() const {
  std::uint64_t bytes = 0;
  for (const DeviceCopy& copy : task_.copies_in) bytes += copy.from ? copy.bytes : 0;
  return bytes;
}

std::optional<int> DeviceBatch::first_fault(std::size_t begin, std::size_t end) const {
  const auto* const faults = reinterpret_cast<const std::uint32_t*>(faults_.data());
  std::optional<int> first;
  for (std::size_t i = begin; i < end; ++i) {
    const int slot = static_cast<int>(coded_[i] % static_cast<std::size_t>(slots_));
    if (faults[i] != 0 && (!first || slot < *first)) first = slot;
  }
  return first;
}

}  // namespace stoker
