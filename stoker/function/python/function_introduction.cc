#include "stoker/function/python/function_introduction.h"

#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

namespace stoker {
namespace {

using Json = nlohmann::json;

Json extents_of(const Shape& shape) {
  return std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end());
}

Json taken_value(const TakenValue& taken, const ValueMeaning& meaning) {
  Json value = {{"view", taken.view},
                {"parameter", taken.parameter},
                {"kind", to_string(meaning.kind)},
                {"layout", to_string(meaning.layout)},
                {"form", meaning.box_form},
                {"image", nullptr},
                {"canvas", extents_of(meaning.canvas)}};
  if (meaning.image) value["image"] = *meaning.image;
  return value;
}

}  // namespace

Json introduction_of(const FunctionSpec& spec, const std::vector<ValueMeaning>& meanings) {
  Json takes = Json::array(), gives = Json::array();
  for (std::size_t i = 0; i < spec.takes.size(); ++i) takes.push_back(taken_value(spec.takes[i], meanings[i]));
  for (const GivenValue& given : spec.gives) {
    gives.push_back({{"name", given.name},
                     {"dtype", to_string(given.dtype)},
                     {"shape", extents_of(given.shape)},
                     {"ragged", given.is_ragged}});
  }
  return {{"name", spec.name},
          {"python", spec.python},
          {"library", spec.library},
          {"arguments", spec.arguments},
          {"takes", std::move(takes)},
          {"gives", std::move(gives)},
          {"values", to_string(spec.values)},
          {"random", to_string(spec.random)}};
}

}  // namespace stoker
