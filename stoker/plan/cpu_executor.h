// The fast executor: decodes only the window that the crop needs, and resamples, converts and lays out in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "stoker/codec/image_decoder.h"
#include "stoker/ops/kernels/resample.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// Nanoseconds spent so far, by stage.
struct StageTimes {
  std::int64_t decode_ns = 0;
  std::int64_t transform_ns = 0;  // geometry and color, fused
};

/// What the stages of a view put out for one sample: enough to grant the memory of any prefix of them beforehand.
struct StageOutputs {
  struct Tensor {
    DType dtype = DType::kU8;
    Shape shape;

    std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
  };
  Tensor decode;    // the window that is read, rows x columns x channels
  Tensor geometry;  // resized pixels, rows x columns x channels
  Tensor color;     // as the batch holds it
  ImageSize size;   // of the last two
};

/// One image at a time through the stages of a view, each of which can also run alone: a prefix of them is what the CPU
/// does when the rest happens elsewhere. Keeps scratch; one per thread.
class ImageStages {
 public:
  explicit ImageStages(DecodeLimits limits = {}) : decoder_(limits) {}

  /// Reads the header, draws the random numbers and lays out the work; returns what each stage will put out. `view` and
  /// `encoded` must stay until the last stage is done. Throws kBadSample, and kLimit for an output that is too large.
  StageOutputs begin(const ViewPlan& view, Bytes encoded, const SampleDraw& draw);

  /// What decode() will take, about.
  std::uint64_t decode_memory() const;

  /// Stage 1. The part of the upright image that the next stages read: interleaved RGB, valid until the next begin().
  ResampleSource decode();
  /// Stage 2. Resized 8-bit pixels, of the output's size.
  void geometry(const ResampleSource& decoded, MutableImageView out);
  /// Stage 3. The finished tensor.
  void color(ImageView resized, std::uint8_t* out) const;
  /// Stages 2 and 3 in one pass: the same bits.
  void transform(const ResampleSource& decoded, std::uint8_t* out);

 private:
  AnyImageDecoder decoder_;
  Resampler resampler_;
  AxisTaps taps_x_, taps_y_;

  // The part of the upright image that the taps read.
  Rect window() const;

  const ImageProgram* program_ = nullptr;
  Bytes encoded_;
  ImageFacts facts_;
  Orientation orientation_ = 1;
  SamplingMap map_;
};

class CpuExecutor final : public SampleExecutor {
 public:
  /// `gate` is asked before images are decoded, once per sample; null: nobody minds.
  explicit CpuExecutor(const Plan& plan, DecodeLimits limits = {}, MemoryGate* gate = nullptr)
      : plan_(plan),
        limits_(limits),
        gate_(gate),
        image_views_(std::count_if(plan.views().begin(), plan.views().end(),
                                   [](const ViewPlan& view) { return view.kind == ViewKind::kImage; })),
        stages_(std::make_unique<ImageStages>(limits)) {}

  std::vector<OutputSpec> shapes(const SampleInput& sample) override;
  void run(const SampleInput& sample, std::span<const MutableBytes> outputs) override;

  /// Gives back the scratch memory that was taken for the largest image so far.
  void drop_scratch() { stages_ = std::make_unique<ImageStages>(limits_); }

  const StageTimes& times() const { return times_; }

 private:
  void ask_gate(const SampleInput& sample);

  const Plan& plan_;
  const DecodeLimits limits_;
  MemoryGate* const gate_;
  const std::ptrdiff_t image_views_;
  std::unique_ptr<ImageStages> stages_;
  StageTimes times_;
};

}  // namespace stoker
