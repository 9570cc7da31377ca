#include "stoker/pack/job_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

TEST(JobMemory, IsDividedWithNothingLeftOver) {
  for (const int threads : {1, 4, 64}) {
    for (const std::uint64_t bytes : {300'000'000u, 2'000'000'000u}) {
      const JobMemory memory = divide_job_memory(bytes, threads);
      EXPECT_EQ(
          memory.fixed + static_cast<unsigned>(threads) * memory.kept + memory.read + memory.shared + memory.oldest,
          bytes);
    }
  }
}

TEST(JobMemory, SaysTheLeastThatWorks) {
  const Error error = error_of([] { divide_job_memory(1000, 4); });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  const std::string sentence = error.what();
  const std::string least = sentence.substr(sentence.rfind(' ') + 1);
  EXPECT_NO_THROW(divide_job_memory(parse_size(least), 4)) << sentence;
  EXPECT_THROW(divide_job_memory(parse_size(least) - 1'000'000, 4), Error) << sentence;
}

TEST(JobMemory, NamesTheLeastBudgetForASample) {
  constexpr std::uint64_t kSample = 30'000'000, kWork = 500'000'000;
  for (const auto& [sample, work] : {std::pair(kSample, kWork), std::pair(kWork, kSample)}) {
    const std::uint64_t enough = parse_size(job_memory_for(sample, work, 4));
    EXPECT_GE(divide_job_memory(enough, 4).read, sample);
    EXPECT_GE(divide_job_memory(enough, 4).oldest, work);
    const JobMemory less = divide_job_memory(enough - 1'000'000, 4);
    EXPECT_TRUE(less.read < sample || less.oldest < work);
  }
  EXPECT_NO_THROW(divide_job_memory(parse_size(job_memory_for(0, 0, 1)), 1));
}

TEST(JobMemory, WorksWhereNoneIsGiven) {
  EXPECT_LE(default_job_memory(1), std::uint64_t{2} << 30);
  for (const int threads : {1, 16, 4096}) EXPECT_NO_THROW(divide_job_memory(default_job_memory(threads), threads));
}

}  // namespace
}  // namespace stoker
