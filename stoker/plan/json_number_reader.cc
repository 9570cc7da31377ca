#include "stoker/plan/json_number_reader.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

template <typename Number>
void store(Number number, MutableBytes out) {
  assert(out.size() == sizeof(number));
  std::memcpy(out.data(), &number, sizeof(number));
}

std::string text_of(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40);
}

/// The value that the key, or pointer, names; none where the text is damaged or has none. A number or a text alone has
/// the empty key.
std::optional<Json> find(Bytes json, const std::string& key) {
  const std::string wanted = key.starts_with('/') ? key : json_pointer_to(key);
  std::optional<Json> found;
  const bool whole = for_each_json_value(as_text(json), [&](const std::string& pointer, Json value) {
    if (pointer == wanted || (key.empty() && pointer.empty() && !value.is_structured())) {
      found = std::move(value);
    } else if (found && wanted.starts_with(pointer) && wanted[pointer.size()] == '/') {
      found.reset();  // what it was in comes a second time
    }
  });
  if (!whole) fail(ErrorKind::kBadSample, "its JSON is damaged");
  return found;
}

}  // namespace

void write_json_number(Bytes json, const JsonNumber& number, MutableBytes out) {
  std::optional<Json> value = find(json, number.key);
  if (!value) fail(ErrorKind::kBadSample, "its JSON has no '{}'", number.key);
  if (value->is_boolean()) value = value->get<bool>() ? 1U : 0U;
  if (number.dtype == DType::kF32 && value->is_number()) {
    const auto single = value->get<float>();
    if (std::isfinite(single)) return store(single, out);
  }
  if (number.dtype == DType::kI64) {
    const std::optional<std::int64_t> whole =
        value->is_number_float() ? as_whole_float(*value) : as_whole_number<std::int64_t>(*value);
    if (whole) return store(*whole, out);
  }
  const std::string name = number.key.empty() ? "its JSON" : fmt::format("'{}' in its JSON", number.key);
  fail(ErrorKind::kBadSample, "{} is {}, and not a {}", name, text_of(*value),
       number.dtype == DType::kF32 ? "number that f32 holds" : "whole number that i64 holds");
}

std::string json_text(Bytes json, const std::string& key, bool may_lack) {
  const std::optional<Json> value = find(json, key);
  if (!value) fail(ErrorKind::kBadSample, "its JSON has no '{}'", key);
  if (value->is_null() && may_lack) return {};
  if (!value->is_string()) {
    fail(ErrorKind::kBadSample, "'{}' in its JSON is {}, and not a text", key, text_of(*value));
  }
  return value->get<std::string>();
}

}  // namespace stoker
