// The values of a JSON text, each with its place, without an object made of the text: to destroy one nlohmann needs
// memory, and where there is none left the program ends.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace stoker {

/// Calls `see` for each value with its JSON pointer, in the order of the text; before what lists and objects hold, for
/// them, as empty ones. Of equal keys the last one counts, as everywhere. False if the text is not JSON: what was seen
/// until then is not to be used.
bool for_each_json_value(std::string_view json,
                         const std::function<void(const std::string& pointer, nlohmann::json value)>& see);

/// How deep the lists and objects of a data set's JSON may lie in one another. nlohmann's values call themselves for
/// each level when they are copied and dumped, so that deeper ones exhaust the stack. LitData's trees are the deepest
/// that are read: they have two levels for each of up to 64 nodes.
inline constexpr int kJsonDepthMax = 256;

/// Whether a JSON text is deeper; of a text that is not JSON the answer means nothing.
bool is_json_too_deep(std::string_view json);

/// What the text says; discarded, as nlohmann has it, if it is not JSON or is too deep.
nlohmann::json parse_data_json(std::string_view json);

/// The number, if it is an integer that `Whole` has; get() makes something of others.
template <typename Whole, typename Json>
std::optional<Whole> as_whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.template get<std::uint64_t>();
    if (std::in_range<Whole>(number)) return static_cast<Whole>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.template get<std::int64_t>();
    if (std::in_range<Whole>(number)) return static_cast<Whole>(number);
  }
  return std::nullopt;
}

/// The same; throws as get() does for others.
template <typename Whole, typename Json>
Whole whole_number(const Json& value) {
  if (const std::optional<Whole> number = as_whole_number<Whole>(value)) return *number;
  throw Json::out_of_range::create(406, "not a whole number, or too large", &value);
}

/// Of a float, the number that it is, if it is whole and exact.
template <typename Json>
std::optional<std::int64_t> as_whole_float(const Json& value) {
  constexpr double kExactMost = 0x1p53;
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.template get<double>();
  const bool is_whole = std::abs(number) <= kExactMost && number == std::trunc(number);
  return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

/// The pointer to a member of the whole: "/a~1b" for "a/b".
std::string json_pointer_to(std::string_view key);

}  // namespace stoker
