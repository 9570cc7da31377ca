// One batch on its way to a device: workers hand over images, each in the form in which it crosses; after the last one
// the batch becomes one task.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/device/device.h"
#include "stoker/ops/stage.h"
#include "stoker/plan/device_erasing.h"
#include "stoker/plan/device_item.h"
#include "stoker/plan/device_mixing.h"
#include "stoker/plan/device_pictures.h"
#include "stoker/plan/plan.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// Where things are in the memory of a plan's batches for a device, which is the same in the host's memory, from which
/// it is copied, and in the device's. In bytes.
struct DeviceBatchLayout {
  std::vector<std::size_t> out;      // by view: the tensors where the consumer gets them, and here if all are finished
  std::vector<std::size_t> scalars;  // by view: those of views that are no images, if others are not finished
  std::vector<std::size_t> resized;  // by view: what the resized form of a slot takes; 0 for views that are no images
  std::vector<std::size_t> room;     // by view: what an image takes at most, in whatever form
  std::size_t repeats = 0;           // from here on room for the resized form of each image once more;
  std::size_t items = 0;             // from here on images, in the order in which they come, and what describes them
  std::size_t staging = 0;           // the end: in the host's memory,
  std::size_t memory = 0;            // and in the device's; from the first end on a word for each coded image,
  std::size_t fault_words_end = 0;
  std::vector<DevicePictureRoom> pictures;  // and by view room for what operators on pictures work on
  std::size_t scratch = 0;                  // what all batches share

  /// `image_bytes`: what an image of the data takes, coded, on average. `nvjpeg`: there is scratch for any file's
  /// planes.
  DeviceBatchLayout(const Plan& plan, int slots, std::size_t image_bytes, bool nvjpeg);
};

/// Workers fill distinct slots at the same time; everything else is for one thread. Used for many batches.
class DeviceBatch {
 public:
  /// `out` is where the device shall leave the tensors: batch_bytes() of its memory. `nvjpeg`: JPEGs that are not to be
  /// decoded by entry points are left to nvJPEG, which the device has opened. Plan and device must outlive it. Throws
  /// kMemory.
  DeviceBatch(const Plan& plan, int slots, std::size_t image_bytes, Device& device, std::uint8_t* out,
              bool nvjpeg = false);

  /// Begins a batch of so many slots, at most as many as it was made for.
  void start(int transfer_index, int slots);
  /// The outputs of batches that are started from now on: those of Plan::outputs(), for one of their samples.
  void set_outputs(std::vector<OutputSpec> outputs) { outputs_ = std::move(outputs); }
  /// The form in which its images cross, or in a later one.
  ImageForm crosses_as() const { return form_at(transfer_index_); }
  /// Whether files may cross whole.
  bool leaves_to_nvjpeg() const { return nvjpeg_ && crosses_as() == ImageForm::kCoded; }

  /// Whether a view crosses finished.
  bool crosses_finished(std::size_t view) const {
    return crosses_as() == ImageForm::kFinished || plan_.views()[view].kind != ViewKind::kImage;
  }
  /// Where to write a slot's value of this shape, of a view that does. Throws what Arrangement::place() does.
  MutableBytes place(std::size_t view, int slot, const Shape& shape);
  /// No sample stands in the slot.
  void pad(int slot);

  /// Room for views of one slot that share an image.
  class Room {
   public:
    /// `views` must outlive it.
    Room(DeviceBatch& batch, std::span<const std::size_t> views, int slot)
        : batch_(batch), views_(views), slot_(slot) {}
    std::size_t first_view() const { return views_.front(); }
    /// For all of them at once. Places are multiples of kDevicePlaceAlignment. False if so much must not be taken, of
    /// that or of scratch memory, whatever other images take: this one is then to cross in a form that takes less, down
    /// to the resized one, for which there is always room.
    bool grant(std::size_t bytes, std::size_t scratch_bytes, DeviceGrant& grant);

   private:
    DeviceBatch& batch_;
    std::span<const std::size_t> views_;
    int slot_;
  };
  /// Room for the resized form, which there always is.
  DeviceGrant grant_resized(std::size_t view, int slot);
  /// What was handed over, which sample operators on pictures draw for, and the steps that come before theirs.
  void put(std::size_t view, int slot, const DeviceItem& item, const SampleDraw& draw = {},
           std::span<const PictureStep> first_steps = {});

  /// Where a view's values are in the host's memory; null if it does not cross finished.
  std::uint8_t* finished(std::size_t view) { return crosses_finished(view) ? finished_part(view) : nullptr; }

  /// All slots are filled: what the device is to do, mixing what is not finished here. Stays until the next start().
  const DeviceTask& seal(const DrawnMixing& mixing = {});
  /// By view, how many bytes of its tensors consumers need, once sealed.
  const std::vector<std::size_t>& used() const { return used_; }
  /// Bytes of the copies to the device.
  std::uint64_t bytes_to_device() const;
  /// In how many parts it decodes.
  std::size_t waves() const { return waves_.size(); }
  /// Once the task is done: the first slot whose coded samples were not sound, if any.
  std::optional<int> faulty_slot() const { return first_fault(0, file_begin_); }
  /// The same of one whose file nvJPEG refused.
  std::optional<int> refused_slot() const { return first_fault(file_begin_, coded_.size()); }

 private:
  struct Entry {
    DeviceItem item;
    SampleDraw draw;
    std::array<PictureStep, WarpedSampling::kStepsMax> first_step;
    std::size_t first_steps = 0;
    bool had_room = false;
  };
  // Coded images of which the device's scratch memory holds the planes at a time, by their place in coded_: all of them
  // to be decoded by entry points, or all of them files.
  struct Wave {
    std::size_t first, end;
  };

  Entry& entry(std::size_t view, int slot) {
    return entries_[view * static_cast<std::size_t>(slots_) + static_cast<std::size_t>(slot)];
  }
  // What a view makes of the planes that an entry in coded_ brings; null: nothing.
  const DevicePlanarImage* planar_of(std::size_t view, std::size_t coded);
  std::uint8_t* finished_part(std::size_t view) const;
  void seal_finished();
  void copy_finished();
  void find_coded();
  template <class Image>
  void place_coded();
  void seal_wave(const Wave& wave);
  void decode_entry_points(const Wave& wave);
  void decode_files(const Wave& wave);
  std::uint32_t* fault_word(std::size_t coded) const;
  std::optional<int> first_fault(std::size_t begin, std::size_t end) const;
  void seal_view(std::size_t view);
  void seal_mixing(const DrawnMixing& mixing);
  void seal_pictures(std::size_t view);
  void seal_erased(std::size_t view);
  DeviceColor color_of(std::size_t view) const;
  // What follows the geometry of a view's images: its own color step, or the one that makes pictures for operators.
  struct ColorStep {
    DeviceColor color;
    std::uint8_t* out;
  };
  ColorStep color_after_geometry(std::size_t view) const;
  template <typename T>
  const T* place_table(const std::vector<T>& rows);
  template <class Kernel, class Image, class HeightOf>
  void launch_geometry(std::vector<Image>& images, const Memory& samples, const ColorStep& step, HeightOf height_of);
  void launch_color(const ColorStep& step);

  const Plan& plan_;
  const int slots_max_;
  std::vector<OutputSpec> outputs_;
  const DeviceBatchLayout layout_;
  Memory staging_, memory_;
  const std::shared_ptr<const Memory> scratch_;  // of which the layout's part is used
  Memory faults_;                                // where the device's are copied to
  std::uint8_t* const out_;
  const bool nvjpeg_;
  int transfer_index_ = kTransferIndexMax, slots_ = 0;
  std::vector<Entry> entries_;     // by view and slot
  std::vector<std::size_t> used_;  // by view
  std::atomic<std::size_t> placed_{0};
  DeviceTask task_;

  // Of seal().
  std::vector<std::size_t> coded_;  // places in entries_
  std::size_t file_begin_ = 0;      // from here on those are files
  std::vector<Wave> waves_;
  std::vector<DeviceJpegImage> jpegs_;
  std::vector<DevicePlanarImage> planars_;
  std::vector<DeviceRgbImage> rgbs_;
  std::vector<DeviceResized> resized_;
  PictureRounds rounds_;
  ErasedTensors erased_;
  MixedImages mixed_;
};

}  // namespace stoker
