#include "stoker/plan/json_number_reader.h"

#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>

#include "stoker/base/error.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

template <typename Number>
void store(Number number, MutableBytes out) {
  assert(out.size() == sizeof(number));
  std::memcpy(out.data(), &number, sizeof(number));
}

const Json* find(const Json& json, const std::string& key) {
  if (key.starts_with('/')) {
    const Json::json_pointer pointer(key);
    return json.contains(pointer) ? &json.at(pointer) : nullptr;
  }
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? nullptr : &*found;
}

}  // namespace

void write_json_number(Bytes json, const JsonNumber& number, MutableBytes out) {
  const Json parsed = Json::parse(json.begin(), json.end(), nullptr, false);
  if (parsed.is_discarded()) fail(ErrorKind::kBadSample, "its JSON is damaged");
  const Json* const value = find(parsed, number.key);
  if (!value) fail(ErrorKind::kBadSample, "its JSON has no '{}'", number.key);
  if (number.dtype == DType::kF32 && value->is_number()) return store(value->get<float>(), out);
  // An unsigned number is one that is not negative; larger ones than the type's stay out.
  const bool fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= INT64_MAX : value->is_number_integer();
  if (number.dtype == DType::kI64 && fits) return store(value->get<std::int64_t>(), out);
  fail(ErrorKind::kBadSample, "'{}' in its JSON is {}, and not a {}", number.key, value->dump().substr(0, 40),
       number.dtype == DType::kF32 ? "number" : "whole number");
}

}  // namespace stoker
