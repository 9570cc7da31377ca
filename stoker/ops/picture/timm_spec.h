// The texts by which timm names its policies, such as "rand-m9-mstd0.5-inc1", as timm 1.0.31 reads them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace stoker {

struct TimmSpec {
  enum class Policy : std::uint8_t { kRand, kAugMix, kAuto };
  static constexpr double kUniform = std::numeric_limits<double>::infinity();

  Policy policy = Policy::kAuto;
  std::string name;  // of kAuto: v0, v0r, original, originalr or 3a; of kRand: the set of operators, or nothing
  int magnitude = 10;
  double magnitude_std = 0;  // of a normal distribution; kUniform: uniform from 0 to the magnitude
  double magnitude_max = 10;
  bool increasing = false;    // kRand: operators whose effect grows with the magnitude
  int layers = 2;             // kRand: operators for each picture
  double p = 0.5;             // kRand: of each
  int width = 3, depth = -1;  // kAugMix; depth 0 and below: 1 to 3, drawn
  double alpha = 1;           // kAugMix
  bool blended = false;       // kAugMix: chain by chain

  /// Throws kUsage naming the section that is wrong. Sections that timm ignores, for want of a number, are wrong here.
  static TimmSpec parse(std::string_view text);
};

}  // namespace stoker
