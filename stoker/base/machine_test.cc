#include "stoker/base/machine.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/isa.h"
#include "stoker/base/log.h"

namespace stoker {
namespace {

TEST(Machine, HasCoresAndMemory) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), 4096);
  EXPECT_GT(usable_memory(), std::uint64_t{1} << 26);
  EXPECT_NE(machine_name().find("core"), std::string::npos);
}

TEST(Isa, AlwaysOffersScalarAndSelectsWhatIsAsked) {
  const std::vector<std::string> there = available_isas();
  ASSERT_FALSE(there.empty());
  EXPECT_EQ(there.back(), "scalar");
  const std::string before = active_isa();
  for (const std::string& name : there) {
    select_isa(name);
    EXPECT_EQ(active_isa(), name);
  }
  select_isa(before);
}

TEST(Isa, RefusesUnknownNamesAndReadsTheEnvironment) {
  const std::string before = active_isa();
  EXPECT_THROW(select_isa("mmx"), Error);
  ASSERT_EQ(setenv("STOKER_ISA", "scalar", 1), 0);
  select_isa("");
  EXPECT_EQ(active_isa(), "scalar");
  unsetenv("STOKER_ISA");
  select_isa("");
  EXPECT_EQ(active_isa(), available_isas().front());
  select_isa(before);
}

// In a separate process, where no choice was made yet: prints the result of the first use.
void use_first_with(const char* forced) {
  setenv("STOKER_ISA", forced, 1);
  try {
    std::fputs(active_isa().c_str(), stderr);
    std::exit(0);
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::exit(error.kind() == ErrorKind::kUsage ? 2 : 1);
  }
}

TEST(IsaDeathTest, HonoursTheEnvironmentOnFirstUse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const testing::ExitedWithCode fine(0), usage(2);
  EXPECT_EXIT(use_first_with("scalar"), fine, "^scalar$");
  EXPECT_EXIT(use_first_with(""), fine, "^" + available_isas().front() + "$");
  EXPECT_EXIT(use_first_with("mmx"), usage, "^'mmx' is not an instruction set; this machine has .*scalar");
}

TEST(Hash, MatchesXxh3AndItsStreamedForm) {
  EXPECT_EQ(to_hex(hash64(std::string_view())), "2d06800538d394c2");  // XXH3-64 of nothing, as published
  Hasher64 hasher;
  hasher.update(as_bytes("sto"));
  hasher.update(as_bytes("ker"));
  EXPECT_EQ(hasher.digest(), hash64("stoker"));
  hasher.reset();
  EXPECT_EQ(hasher.digest(), hash64(std::string_view()));
}

TEST(Log, ReachesTheSinkFromItsLevelOn) {
  std::string heard;
  set_log_sink([&](LogLevel, std::string_view message) { heard += std::string(message) + ";"; }, LogLevel::kWarning);
  log(LogLevel::kInfo, "quiet {}", 1);
  log(LogLevel::kWarning, "loud {}", 2);
  set_log_sink(nullptr);
  log(LogLevel::kError, "no hook listens");
  EXPECT_EQ(heard, "loud 2;");
}

}  // namespace
}  // namespace stoker
