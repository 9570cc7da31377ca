// Running a test on each instruction set, in each of the ways in which it can decode segments.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/isa.h"
#include "stoker/codec/jpeg/segment_decoder.h"

namespace stoker {

struct IsaAndWay {
  const char *isa, *way;
};
inline void PrintTo(const IsaAndWay& pair, std::ostream* out) { *out << pair.isa << " by " << pair.way; }

constexpr IsaAndWay kSegmentWays[] = {
    {"avx3_dl", "lanes16"}, {"avx3_dl", "lanes8"}, {"avx3_dl", "streams"}, {"avx3", "lanes8"},  {"avx3", "streams"},
    {"avx2", "lanes8"},     {"avx2", "streams"},   {"sse4", "streams"},    {"neon", "streams"}, {"scalar", "streams"}};

/// As EachIsa.
class EachSegmentWay : public testing::TestWithParam<IsaAndWay> {
 protected:
  void SetUp() override {
    const auto& [isa, way] = GetParam();
    before_ = active_isa();
    const std::vector<std::string> there = available_isas();
    if (std::find(there.begin(), there.end(), isa) == there.end()) GTEST_SKIP() << "this machine does not have " << isa;
    select_isa(isa);
    const std::vector<std::string> ways = SegmentDecoder::ways();
    ASSERT_NE(std::find(ways.begin(), ways.end(), way), ways.end()) << "there is no such way";
    SegmentDecoder::select_way(way);
  }
  void TearDown() override {
    if (active_isa() == GetParam().isa) SegmentDecoder::select_way({});
    select_isa(before_);
  }

 private:
  std::string before_;
};

inline std::string way_name(const testing::TestParamInfo<IsaAndWay>& info) {
  return std::string(info.param.isa) + "_" + info.param.way;
}

}  // namespace stoker
