// The seam for functions of the user's: something that is called with the values of one sample, and gives others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/function/function_spec.h"
#include "stoker/tensor/layout.h"

namespace stoker {

/// What a value is of a sample, for a function that wants more of it than an array.
enum class ValueKind : std::uint8_t { kImage, kMask, kMasks, kBoxes, kText, kBytes, kNumbers };
std::string_view to_string(ValueKind kind);

/// The same with what no array tells of itself.
struct ValueMeaning {
  ValueKind kind = ValueKind::kNumbers;
  Layout layout = Layout::kNhwc;       // of an image
  std::string_view box_form = "xyxy";  // as decode_boxes calls it; one of its constants
  std::optional<std::size_t> image{};  // of boxes: which of the values taken is their image
  Shape canvas{};                      // of boxes whose image is not taken: its height and width
};

/// What seeds the random numbers of one call.
using FunctionSeed = std::array<std::uint32_t, 4>;

/// Where to write a value that is given, which has this shape. Throws kLimit for one that is too large.
using GivenPlaces = std::function<MutableBytes(std::size_t given, const Shape& shape)>;

/// For one thread. Takes the values of a sample one after another, then is called.
class SampleFunction {
 public:
  virtual ~SampleFunction() = default;

  /// A new sample comes: what was taken so far is forgotten.
  virtual void begin() = 0;
  /// Room for a value that it takes, until it was called.
  virtual MutableBytes take(std::size_t taken, DType dtype, const Shape& shape) = 0;
  /// Calls it with the values that were taken. Throws kBadSample if it fails with them, kUsage if it cannot be called
  /// at all, kClosed if its stop token says so, and what `place` throws.
  virtual void call(const FunctionSeed& seed, const GivenPlaces& place) = 0;
  /// Nanoseconds in the function itself so far: the rest is what it costs to reach it.
  virtual std::int64_t inside_ns() const = 0;
  /// Gives back memory that was taken for the largest values so far.
  virtual void drop_scratch() {}
};

/// FunctionSpec::library with its path from the root, if there is such a file now: for functions that are opened or
/// started later, when the working folder may be another. As it is, if there is none: the system looks for names
/// without a slash in folders of its own.
std::string placed_library(const std::string& library);

/// A function that is to be called with such values. Starts nothing until it is needed. Its library is what
/// placed_library() said.
std::unique_ptr<SampleFunction> open_function(const FunctionSpec& spec, std::vector<ValueMeaning> taken,
                                              std::stop_token stop = {});

/// How functions of FunctionHome::kThread are opened: by the module that has an interpreter. Once, before the first.
using FunctionOpener =
    std::function<std::unique_ptr<SampleFunction>(const FunctionSpec& spec, std::vector<ValueMeaning> taken)>;
void set_thread_functions(FunctionOpener opener);

}  // namespace stoker
