#include "stoker/doctor/probe/run_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Of 50 samples in batches of 8.
void check(const Configuration& change, LoaderOptions loader = {}) {
  loader.batch = 8;
  check_run(*memory_dataset().dataset, small_recipe(), loader, change, 1);
}

std::string refusal(const Configuration& change, const LoaderOptions& loader = {}) {
  return error_of([&] { check(change, loader); }).message();
}

TEST(RunCheck, TakesWhatALoaderTakes) {
  EXPECT_NO_THROW(check({}));
  EXPECT_NO_THROW(check({.cores = 100'000, .threads = 64, .gpus = 4, .io_depth = 1024, .prefetch = 8, .batch = 10}));
  EXPECT_NO_THROW(
      check({.cache = "decoded", .order = "none"}, {.order = OrderKind::kWindowed, .window = 10, .lanes = 1}));
  EXPECT_NO_THROW(check({.batch = 64}, {.tail = Tail::kWrap}));
}

TEST(RunCheck, RefusesWhatALoaderRefuses) {
  EXPECT_THAT(refusal({.batch = 64}), HasSubstr("fewer than one global batch of 64"));
  EXPECT_THAT(refusal({.gpus = 8}), HasSubstr("fewer than one global batch of 64"));
  EXPECT_THAT(refusal({.batch = 1'000'000'000}, {.tail = Tail::kWrap}), HasSubstr("memory"));
  EXPECT_THAT(refusal({.prefetch = 1'000'000'000}), HasSubstr("memory budget"));
  EXPECT_THAT(refusal({.memory_bytes = 1}), HasSubstr("the least for this batch and prefetch is"));
  EXPECT_THAT(refusal({.memory_bytes = 1 << 20}, {.memory = 1 << 30}),
              AllOf(HasSubstr("1.07 GB"), HasSubstr("1.05 MB")));
  EXPECT_THAT(refusal({.io_depth = 8192}), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(refusal({.threads = 100'000}), HasSubstr("at most 4096"));
}

}  // namespace
}  // namespace stoker
