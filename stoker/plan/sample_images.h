// The images of a sample. Views of one field share its header, and they share what is decoded of it, where one decode
// of a window that holds all of theirs takes less than several: pixels do not depend on the window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "stoker/plan/box_reader.h"
#include "stoker/plan/image_stages.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// One decode, and the views that go on from it.
struct SharedDecode {
  Rect window;                         // of the image as stored
  std::span<const std::size_t> views;  // by their number in the plan, ascending
  std::span<PixelPath* const> paths;   // those of the views
};

/// One sample at a time through the stages of all its views. Keeps scratch; one per thread.
class SampleImages {
 public:
  /// The plan must outlive it.
  explicit SampleImages(const Plan& plan, DecodeLimits limits = {});

  /// Reads the headers, draws the random numbers and lays out the work of all views. `sample` must stay until the last
  /// stage is done; `for_device` is that of ImageStages::begin(). Throws kBadSample, and what ImageStages::begin()
  /// throws.
  void begin(const SampleInput& sample, bool for_device = false);

  /// All until the next begin(). A decode is there until the next one.
  std::span<const SharedDecode> decodes() const { return decodes_; }
  void decode(const SharedDecode& decode);
  /// Those of a view of images, by its number in the plan.
  ImageStages& stages(std::size_t view) { return stages_[view]; }

  /// About the most memory that the stages take at a time,
  std::uint64_t memory() const;
  /// and would take whatever windows are drawn.
  std::uint64_t memory_max() const;

  /// For a device to go on with, by the views of the decode. False if there is no room, or no device can.
  bool hand_over_coded(const SharedDecode& decode, DeviceBatch::Room& room, std::span<DeviceItem> items);
  bool hand_over_file(const SharedDecode& decode, DeviceBatch::Room& room, std::span<DeviceItem> items);
  bool hand_over_decoded(const SharedDecode& decode, DeviceBatch::Room& room, std::span<DeviceItem> items);

  PlaneDecodes plane_decodes() const { return decoder_.plane_decodes(); }

 private:
  const ViewPlan& view_of(const SharedDecode& decode) const { return plan_.views()[decode.views.front()]; }
  CodedImage& header(const ViewPlan& view, const SampleInput& sample);
  SeenImage seen_image(const ViewPlan& view, const SampleInput& sample);
  std::uint64_t picture_memory(std::uint64_t (ImageStages::*of)() const) const;
  void share_decodes();
  void list_decodes();

  const Plan& plan_;
  AnyImageDecoder decoder_;
  StageScratch scratch_;
  std::vector<std::size_t> views_;   // those of images
  std::vector<bool> planar_;         // by field: whether a view asks for its planes
  std::vector<CodedImage> images_;   // by field
  std::deque<ImageStages> stages_;   // by view of the plan; they do not move
  std::vector<LabeledBox> objects_;  // those that the geometry of a view looks at
  std::vector<ObjectBox> boxes_;

  std::vector<std::size_t> first_;    // by view: the first of those that share its decode
  std::vector<Rect> windows_;         // by view; of a first view: that of all
  std::vector<std::int64_t> work_;    // of decoding them
  std::vector<std::size_t> sharing_;  // what decodes_ refer to
  std::vector<PixelPath*> paths_;
  std::vector<SharedDecode> decodes_;
};

}  // namespace stoker
