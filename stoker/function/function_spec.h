// A function of the user's, as data of a recipe: what is called, which views' values it takes, and what it gives.
// Threads: a value; many may read it, one may change it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/tensor/dtype.h"
#include "stoker/tensor/shape.h"

namespace stoker {

/// A view whose value is an argument. The view itself is no output of the batch.
struct TakenValue {
  std::string view;
  std::string parameter{};  // empty: an argument by its place

  friend bool operator==(const TakenValue&, const TakenValue&) = default;
};

/// An output of the batch.
struct GivenValue {
  std::string name;
  DType dtype = DType::kU8;
  Shape shape{};                 // of one sample
  bool is_ragged = false;        // it has at most as many rows as the first extent says
  std::optional<double> fill{};  // of rows: as many in each sample, those that it does not have filled with this

  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * size_of(dtype); }
  friend bool operator==(const GivenValue&, const GivenValue&) = default;
};

/// What images, masks and boxes are when a function in Python gets them.
enum class ValueForm : std::uint8_t {
  kNumpy,        // arrays; images as height x width x 3, unless their view says layout
  kTorch,        // the same as tensors of PyTorch
  kTorchvision,  // images as tv_tensors.Image (channels first), masks as Mask, boxes as BoundingBoxes
  kPil,          // pictures of Pillow; all else arrays
};
std::string_view to_string(ValueForm form);
/// Throws kUsage for an unknown name.
ValueForm parse_value_form(std::string_view name);

/// Where a function takes its random numbers from.
enum class FunctionRandom : std::uint8_t {
  kSeeded,  // a parameter `rng`; or the generators of random, numpy and torch, seeded anew for each sample
  kOwn,     // anywhere: nothing can repeat its results, and states name it
};
std::string_view to_string(FunctionRandom random);
/// Throws kUsage for an unknown name.
FunctionRandom parse_function_random(std::string_view name);

enum class FunctionHome : std::uint8_t {
  kProcess,  // one for each of the loader's threads
  kThread,   // the loader's thread, in the process of the loader's user, with Python's lock
};

struct FunctionSpec {
  std::string name{};        // an identifier: in messages, and of its random numbers
  std::string python{};      // "module:function"; or
  std::string library{};     // "PATH:FUNCTION", of a shared object (library/stoker_function.h)
  std::string payload{};     // of one that cannot be found by its name: itself, as python/stoker/_function.py packs it
  std::string arguments{};   // a JSON object: more that it is called with
  bool is_isolated = false;  // of a library: in a process of its own, as functions in Python are
  bool whole_batch = false;  // called once for a batch, with the values of all its slots
  FunctionHome home = FunctionHome::kProcess;  // changes no result, and is no part of the recipe's text
  std::vector<TakenValue> takes{};
  std::vector<GivenValue> gives{};
  ValueForm values = ValueForm::kNumpy;
  FunctionRandom random = FunctionRandom::kSeeded;
  double timeout_s = 60;                              // of one call
  std::uint64_t memory_max = std::uint64_t{4} << 30;  // of its process, which is then started anew
  std::string version{};                              // whatever the user calls it: of a recipe's identity

  bool takes_by_name() const { return !takes.empty() && !takes.front().parameter.empty(); }
  friend bool operator==(const FunctionSpec&, const FunctionSpec&) = default;
};

/// Throws kUsage, naming the function, for one that makes no sense in itself.
void check_function(const FunctionSpec& spec);

}  // namespace stoker
