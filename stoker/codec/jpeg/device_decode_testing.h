// Windows of JPEGs as a batch hands them to a device, in memory of which each part is fenced: what crosses of an image,
// and each of its planes.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/host_device_testing.h"
#include "stoker/codec/jpeg/device_decode.h"

namespace stoker {

class FencedJpegs {
 public:
  using Fence = FencedBytes::Fence;
  static constexpr std::uint8_t kUntouched = 0xA5;

  /// `capacity` is addresses, not memory.
  explicit FencedJpegs(std::size_t capacity = std::size_t{1} << 30) : space_(capacity) {}

  void clear() {
    space_.clear();
    images_.clear();
    entries_.clear();
    blocks_ = transform_blocks_ = 0;
  }

  /// Copies what the window has; it need not stay.
  void add(const JpegWindow& window, Fence fence) {
    Entry& entry = entries_.emplace_back();
    entry.planes = window.planes;
    const auto count = static_cast<std::size_t>(window.header->component_count);
    std::uint64_t samples[3] = {};
    for (std::size_t c = 0; c < count; ++c) {
      samples[c] = space_.take(window.plane_bytes[c], fence);
      entry.samples[c] = {space_.base() + samples[c], window.plane_bytes[c]};
      entry.planes.plane[c].samples = entry.samples[c].data();
    }
    const std::size_t bytes = device_jpeg_bytes(window), place = space_.take(bytes, fence);
    const std::size_t coefficients = space_.take(device_jpeg_coefficient_bytes(window), fence);
    entry.coded = {space_.base() + place, bytes};
    images_.push_back(describe_for_device(window, samples, coefficients, entry.coded.data(), place));
    images_.back().first_block = blocks_;
    images_.back().first_transform_block = transform_blocks_;
    blocks_ += DeviceJpegKernel::blocks(images_.back());
    transform_blocks_ += DeviceJpegTransformKernel::blocks(images_.back());
  }

  int count() const { return static_cast<int>(images_.size()); }

  // By image:

  const DeviceJpegImage& described(int image) const { return images_[static_cast<std::size_t>(image)]; }
  /// All that crossed; and parts of it.
  MutableBytes coded(int image) const { return entry(image).coded; }
  MutableBytes data(int image) const { return at(described(image).data, described(image).data_bytes); }
  DeviceJpegTables& tables(int image) const {
    return *reinterpret_cast<DeviceJpegTables*>(space_.base() + described(image).tables);
  }
  std::span<DeviceJpegSegment> segments(int image) const {
    return {reinterpret_cast<DeviceJpegSegment*>(space_.base() + described(image).segments),
            static_cast<std::size_t>(described(image).segment_count)};
  }
  /// Of run().
  const Planes& planes(int image) const { return entry(image).planes; }
  bool faulty(int image) const { return faults_[static_cast<std::size_t>(image)] != 0; }
  MutableBytes samples(int image, int component) const {
    return entry(image).samples[static_cast<std::size_t>(component)];
  }

  /// Whether nothing was written between the blocks of one row and those of the next, nor after the last.
  bool kept_to_blocks(int image) const {
    const DeviceJpegImage& jpeg = described(image);
    bool kept = true;
    for (int c = 0; c < jpeg.component_count; ++c) {
      const DeviceJpegImage::Component& component = jpeg.component[c];
      const auto width = static_cast<std::size_t>(component.side * component.across * jpeg.columns);
      const auto height = static_cast<std::size_t>(component.side * component.down * jpeg.rows);
      const auto stride = static_cast<std::size_t>(component.row_stride);
      const MutableBytes all = samples(image, c);
      for (std::size_t at = 0; at < all.size(); ++at) {
        kept = kept && (all[at] == kUntouched || (at / stride < height && at % stride < width));
      }
    }
    return kept;
  }

  /// Decodes all of them together, on planes full of kUntouched; `order` as run_grid() has it.
  void run(std::uint32_t order) {
    for (const Entry& entry : entries_) {
      for (const MutableBytes samples : entry.samples) std::fill(samples.begin(), samples.end(), kUntouched);
    }
    faults_.assign(images_.size(), 0);
    const DeviceJpegArgs args{.memory = space_.base(),
                              .scratch = space_.base(),
                              .images = images_.data(),
                              .image_count = count(),
                              .faults = faults_.data()};
    run_grid<DeviceJpegKernel>(args, blocks_, order);
    run_grid<DeviceJpegTransformKernel>(args, transform_blocks_, order);
  }

 private:
  struct Entry {
    Planes planes;
    MutableBytes coded;
    std::array<MutableBytes, 3> samples;
  };

  const Entry& entry(int image) const { return entries_[static_cast<std::size_t>(image)]; }
  MutableBytes at(std::uint64_t place, std::size_t bytes) const { return {space_.base() + place, bytes}; }
  FencedSpace space_;
  std::vector<DeviceJpegImage> images_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> faults_;
  int blocks_ = 0, transform_blocks_ = 0;
};

}  // namespace stoker
