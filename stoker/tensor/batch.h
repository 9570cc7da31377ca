// What a loader yields: named output tensors over the slots of a batch, and what stands in each slot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/allocator.h"
#include "stoker/tensor/dtype.h"
#include "stoker/tensor/layout.h"
#include "stoker/tensor/row_padding.h"
#include "stoker/tensor/shape.h"

namespace stoker {

class Arrangement;

/// Values of one shape, side by side.
const Arrangement& dense_arrangement();
/// Of each slot some rows, at most as many as the first extent of the output's shape: the values of all slots, one
/// after another, and where those of each begin.
const Arrangement& ragged_arrangement();
/// The same as one tensor, with as many rows of each slot (OutputSpec::row_padding), and how many rows each had.
const Arrangement& padded_arrangement();

/// One named output of a plan; `shape` is one sample's, without the batch axis.
struct OutputSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::optional<Layout> layout{};  // of an image; else each sample has a number, or a vector of them
  const Arrangement* arrangement = &dense_arrangement();
  // Of whole numbers: what all of them are where no sample stands; else single numbers are kPaddingNumber there if
  // their type has it, and all else is zeros: images, vectors, and what is unsigned or a truth value.
  std::optional<std::int64_t> padding{};
  std::optional<RowPadding> row_padding{};  // of padded_arrangement(): to as many rows as `shape` says

  bool is_image() const { return layout.has_value(); }
  /// SIZE_MAX if no memory can be that large.
  std::size_t bytes_per_sample() const { return shape.bytes(size_of(dtype)); }
};

enum class SlotStatus : std::uint8_t {
  kPending,  // not yet written
  kGood,
  kBad,      // the sample's bytes are bad, and it was to be skipped: its outputs are those of padding
  kPadding,  // past the end of the data set (tail "pad"): OutputSpec::padding, kPaddingNumber or zeros
};

/// The label of a slot without a sample, and any other single number of a signed type: no class's, and what PyTorch's
/// losses ignore.
constexpr std::int64_t kPaddingNumber = -100;

/// A tensor of another owner: contiguous, row-major.
struct TensorView {
  std::uint8_t* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;  // with the batch axis
  std::optional<Layout> layout{};

  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
};

/// A stream of a GPU, by CUDA's handle.
using DeviceStream = std::uintptr_t;
constexpr DeviceStream kDefaultStream = 1;

/// What a sealed batch consists of, in memory of another owner: of each output the bytes that its consumers need.
struct BatchParts {
  std::vector<MutableBytes> outputs;
  std::shared_ptr<const void> owner;
  bool read_only = false;
};

/// The memory and the slots of one batch. Workers write distinct slots at the same time; everything else is for one
/// thread. Reused for many batches.
class Batch {
 public:
  /// Throws what batch_bytes() and the allocator throw.
  Batch(std::vector<OutputSpec> outputs, int slots, Allocator& allocator);
  /// A batch that was made before, perhaps by another process. Throws kData if the parts cannot be its outputs'.
  Batch(std::vector<OutputSpec> outputs, int slots, BatchParts parts);
  virtual ~Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Their shapes may be smaller than those that it was made with: a recipe's batches may have several sizes.
  const std::vector<OutputSpec>& outputs() const { return outputs_; }
  /// Slots: fewer than in other batches of the loader only in an epoch's last one (tail "keep").
  int size() const { return size_; }
  /// Bytes this batch holds in its allocator.
  std::size_t bytes() const { return memory_.size(); }
  bool read_only() const { return read_only_; }

  TensorView output(std::size_t number) const;
  /// By name; throws kNotFound naming what there is.
  TensorView output(std::string_view name) const;
  /// All that there is of an output: one tensor of a dense one.
  std::vector<TensorView> tensors(std::size_t number) const;
  /// The value of a slot.
  Bytes slot_bytes(std::size_t output, int slot) const { return slot_bytes(output, slot, part(output)); }
  /// The same in a copy of the output's bytes, such as host_bytes().
  Bytes slot_bytes(std::size_t output, int slot, const std::uint8_t* bytes) const;

  /// Where to write a slot's value of this shape. Throws what Arrangement::place() does.
  MutableBytes place(std::size_t output, int slot, const Shape& shape);
  /// No sample stands in the slot.
  void pad(int slot);
  /// All slots are written. Not needed where all outputs are dense.
  void seal();

  /// The GPU in whose memory the tensors are, by CUDA's number; -1: they are in the host's, and were written when the
  /// batch came. A GPU may still be at work on them: its consumers wait in their streams, as follows, or here.
  virtual int gpu() const { return -1; }
  /// Waits until the tensors are written. Throws kIo if they cannot be. Threads, of this and the next two: any.
  virtual void wait() const {}
  /// What is given to the stream from now on comes when the tensors are written; and record_stream().
  virtual void wait_on(DeviceStream) const {}
  /// The memory is not used again before all is done that the stream was given until the batch was released.
  virtual void record_stream(DeviceStream) const {}
  /// When the tensors were there (base/clock.h). On a GPU only wait() makes sure that they are.
  virtual std::int64_t ready_ns() const { return written_ns; }
  /// An output's bytes, in `room` if they are on a GPU: all that consumers need. Waits for them, and throws, as wait()
  /// does.
  virtual Bytes host_bytes(std::size_t output, std::vector<std::uint8_t>& room) const;

  std::uint64_t seed = 0;  // the loader's
  std::int64_t epoch = 0;
  std::int64_t index = 0;       // of this rank's batches within the epoch
  std::int64_t written_ns = 0;  // when its last slot was

  // One entry per slot.
  std::vector<SlotStatus> status;
  std::vector<std::int64_t> position;  // in the epoch's global order
  std::vector<std::int64_t> sample;    // number within the data set
  std::vector<std::string> key;        // empty for padding
  // Of a sample that stands in for a bad one, that one: its number, else -1, and its key.
  std::vector<std::int64_t> substituted_for;
  std::vector<std::string> substituted_key;
  // Why a slot is bad: of a request (runtime/request.h), whose bad items are kept; else empty.
  std::vector<std::string> errors;

  bool valid(int slot) const { return status[static_cast<std::size_t>(slot)] == SlotStatus::kGood; }
  int valid_count() const;

  /// For random numbers that a consumer draws for the batch: batch_random_seed() of it.
  std::uint64_t random_seed(std::string_view name) const;

 protected:
  /// So many slots, at most as many as there is memory for; nothing stands in them yet.
  void set_size(int slots);
  /// The outputs that come with the next set_size(): the same but for their shapes, and no larger than those that it
  /// was made with.
  void set_outputs(std::vector<OutputSpec> outputs);
  std::uint8_t* part(std::size_t output) const { return parts_[output]; }

  std::vector<std::size_t> used_;  // of each output's part, in bytes, once it was sealed, there or elsewhere

 private:
  std::vector<OutputSpec> outputs_;
  std::vector<std::uint8_t*> parts_;  // of each output, aligned to 64 bytes where they are in memory_
  std::vector<std::size_t> offsets_;  // of these parts
  int slots_max_, size_ = 0;
  Memory memory_;
  std::shared_ptr<const void> owner_;  // of parts elsewhere
  bool read_only_ = false;
};

/// Where each output begins in a batch's memory, and where that ends. Throws as batch_bytes() does.
std::vector<std::size_t> batch_offsets(const std::vector<OutputSpec>& outputs, int slots);

/// The bytes a Batch of these outputs takes. Throws kLimit, naming the output, if no memory can be that large.
std::size_t batch_bytes(const std::vector<OutputSpec>& outputs, int slots);

/// For random numbers that a consumer draws for the batch of a loader with this seed whose first sample has this
/// position in the epoch, apart from those of other names: the same whenever the batch comes. At least 0 as an
/// std::int64_t, too.
std::uint64_t batch_random_seed(std::uint64_t seed, std::int64_t epoch, std::int64_t position, std::string_view name);

}  // namespace stoker
