// Running a test on each instruction set.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/isa.h"

namespace stoker {

constexpr const char* kIsaNames[] = {"avx3_dl", "avx3", "avx2", "sse4", "neon", "scalar"};

/// Runs the body with one instruction set in use; skipped, and said so, on a machine that lacks it.
class EachIsa : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    before_ = active_isa();
    const std::vector<std::string> there = available_isas();
    if (std::find(there.begin(), there.end(), GetParam()) == there.end()) {
      GTEST_SKIP() << "this machine does not have " << GetParam();
    }
    select_isa(GetParam());
  }
  void TearDown() override { select_isa(before_); }

 private:
  std::string before_;
};

inline std::string isa_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace stoker
