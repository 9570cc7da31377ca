// What the arguments of several operators have in common, for the operator table.
#pragma once

#include <string_view>

#include "stoker/ops/operator_table.h"

namespace stoker {

inline constexpr unsigned kCountNone = 1u << 0, kCountOne = 1u << 1, kCountTwo = 1u << 2, kCountThree = 1u << 3,
                          kCountFour = 1u << 4;
inline constexpr double kSideMax = 65'535;

/// Required where it has no default.
constexpr ArgSpec text_arg(std::string_view name, std::string_view doc, std::string_view choices,
                           std::string_view by_default = {}) {
  return {.name = name,
          .type = ArgType::kText,
          .doc = doc,
          .required = by_default.empty(),
          .text = by_default,
          .choices = choices};
}
constexpr ArgSpec filter_arg() {
  return text_arg("filter", "as in Pillow; antialiased when the image shrinks", "nearest|box|bilinear|bicubic",
                  "bilinear");
}
constexpr ArgSpec size_arg(std::string_view doc) {
  return {.name = "size",
          .type = ArgType::kIntegers,
          .doc = doc,
          .required = true,
          .min = 1,
          .max = kSideMax,
          .counts = kCountOne | kCountTwo};
}
constexpr ArgSpec fill_arg() {
  return {.name = "fill",
          .type = ArgType::kIntegers,
          .doc = "colour of padding: one number, or one per channel",
          .min = 0,
          .max = 255,
          .counts = kCountOne | kCountThree};
}
constexpr ArgSpec axis_arg() {
  return text_arg("axis", "horizontal mirrors left to right", "horizontal|vertical", "horizontal");
}
constexpr ArgSpec integer_arg(std::string_view name, std::string_view doc, double min) {
  return {.name = name, .type = ArgType::kInteger, .doc = doc, .required = true, .min = min, .max = kSideMax};
}

constexpr ArgSpec operators_arg(std::string_view doc) {
  return {.name = kCombinedOperators,
          .type = ArgType::kOperators,
          .doc = doc,
          .required = true,
          .min = 1,
          .max = Combination::kMembersMax};
}
constexpr ArgSpec p_arg(double by_default) {
  return {.name = "p", .type = ArgType::kNumber, .doc = "probability", .numbers = {by_default}, .min = 0, .max = 1};
}
constexpr ArgSpec chance_arg(std::string_view name, std::string_view doc, double by_default) {
  return {.name = name, .type = ArgType::kNumber, .doc = doc, .numbers = {by_default}, .min = 0, .max = 1};
}
/// A number, or [low, high] between which one is drawn for each picture.
constexpr ArgSpec drawn_arg(std::string_view name, std::string_view doc, double min, double max) {
  return {.name = name,
          .type = ArgType::kNumbers,
          .doc = doc,
          .required = true,
          .min = min,
          .max = max,
          .counts = kCountOne | kCountTwo};
}

}  // namespace stoker
