#include "stoker/function/function_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

constexpr std::int64_t kGivenBytesMax = std::int64_t{1} << 30;
constexpr double kTimeoutMax = 86'400;
constexpr std::uint64_t kProcessMemoryMin = std::uint64_t{64} << 20;

template <typename Kind, std::size_t kCount>
using NamesOf = std::array<std::pair<std::string_view, Kind>, kCount>;

constexpr NamesOf<ValueForm, 4> kValueForms = {{{"numpy", ValueForm::kNumpy},
                                                {"torch", ValueForm::kTorch},
                                                {"torchvision", ValueForm::kTorchvision},
                                                {"pil", ValueForm::kPil}}};
constexpr NamesOf<FunctionRandom, 2> kFunctionRandoms = {
    {{"seeded", FunctionRandom::kSeeded}, {"own", FunctionRandom::kOwn}}};

template <typename Kind, std::size_t kCount>
std::string_view name_in(const NamesOf<Kind, kCount>& names, Kind kind) {
  return std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.second == kind; })->first;
}

template <typename Kind, std::size_t kCount>
Kind parse_in(const NamesOf<Kind, kCount>& names, std::string_view what, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [each, kind] : names) {
    if (each == name) return kind;
    known.emplace_back(each);
  }
  fail(ErrorKind::kUsage, "{} '{}' is not known{}; known are {}", what, name, did_you_mean(name, known),
       fmt::join(known, ", "));
}

void check_given(const FunctionSpec& spec, const GivenValue& given) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(given.dtype));
  bool fits = true;
  for (const std::int64_t extent : given.shape.extents()) {
    if (extent < 1) {
      fail(ErrorKind::kUsage, "function '{}': '{}' has an extent of {}; at least 1 is needed", spec.name, given.name,
           extent);
    }
    fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (!fits || bytes > kGivenBytesMax) {
    fail(ErrorKind::kLimit, "function '{}': '{}' takes more than 1 GiB a sample", spec.name, given.name);
  }
}

void check_taken(const FunctionSpec& spec) {
  std::set<std::string_view> views;
  for (const TakenValue& taken : spec.takes) {
    if (!views.insert(taken.view).second) {
      fail(ErrorKind::kUsage, "function '{}' takes view '{}' twice", spec.name, taken.view);
    }
    if (taken.parameter.empty() == spec.takes_by_name()) {
      fail(ErrorKind::kUsage, "function '{}' takes values either all by name or all by place", spec.name);
    }
  }
}

}  // namespace

std::string_view to_string(ValueForm form) { return name_in(kValueForms, form); }
ValueForm parse_value_form(std::string_view name) { return parse_in(kValueForms, "values", name); }
std::string_view to_string(FunctionRandom random) { return name_in(kFunctionRandoms, random); }
FunctionRandom parse_function_random(std::string_view name) { return parse_in(kFunctionRandoms, "random", name); }

void check_function(const FunctionSpec& spec) {
  if (spec.python.empty() == spec.library.empty()) {
    fail(ErrorKind::kUsage, "function '{}' is either in Python or in a library: name one of them", spec.name);
  }
  if (!spec.library.empty() && spec.takes_by_name()) {
    fail(ErrorKind::kUsage, "function '{}': a library takes values by their place: name a list of views", spec.name);
  }
  if (!spec.arguments.empty()) {
    const nlohmann::json arguments = nlohmann::json::parse(spec.arguments, nullptr, false);
    if (!arguments.is_object()) {
      fail(ErrorKind::kUsage, "function '{}': arguments are not a JSON object, such as {{\"strength\": 0.5}}",
           spec.name);
    }
  }
  if (spec.takes.empty()) fail(ErrorKind::kUsage, "function '{}' takes no value: name a view", spec.name);
  if (spec.gives.empty()) fail(ErrorKind::kUsage, "function '{}' gives no value: name an output", spec.name);
  if (!(spec.timeout_s > 0) || spec.timeout_s > kTimeoutMax) {
    fail(ErrorKind::kUsage, "function '{}': timeout is {}, but must be above 0 and at most {} seconds", spec.name,
         spec.timeout_s, kTimeoutMax);
  }
  if (spec.memory_max < kProcessMemoryMin) {
    fail(ErrorKind::kUsage, "function '{}': memory must be at least 64MiB: Python itself takes about half of that",
         spec.name);
  }
  check_taken(spec);
  std::set<std::string_view> names;
  for (const GivenValue& given : spec.gives) {
    if (!names.insert(given.name).second) {
      fail(ErrorKind::kUsage, "function '{}' gives '{}' twice", spec.name, given.name);
    }
    check_given(spec, given);
    if (spec.whole_batch && given.is_ragged) {
      fail(ErrorKind::kUsage,
           "function '{}' of whole batches gives rows of '{}'; it can give values of one shape alone", spec.name,
           given.name);
    }
  }
  if (spec.whole_batch && spec.values != ValueForm::kNumpy && spec.values != ValueForm::kTorch) {
    fail(ErrorKind::kUsage, "function '{}' of whole batches gets arrays of 'numpy' or 'torch', not '{}'", spec.name,
         to_string(spec.values));
  }
}

}  // namespace stoker
