#include "stoker/runtime/share/host_share.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <memory>
#include <numeric>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/machine.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Pointwise;

constexpr std::int64_t kSecond = 1'000'000'000;
const std::vector<int> kTenCores = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};  // 8 threads

/// A separate table for this test, and a clock that the test advances.
class HostShareTest : public ::testing::Test {
 public:
  ~HostShareTest() override { ::shm_unlink(name_.c_str()); }

 protected:
  std::unique_ptr<HostShare> join(const std::vector<int>& cores = kTenCores) {
    return std::make_unique<HostShare>(cores, options());
  }
  HostShareOptions options() {
    return {.threads_max = 0, .table = name_, .now_ns = [this] { return now_s_ * kSecond; }};
  }
  /// A slot as another process would fill it, of a loader on all cores that reported so many seconds ago.
  void fill(HostSlot& slot, int wanted, std::int64_t age_s = 0, std::uint64_t cores = ~std::uint64_t{0}) const {
    slot.claim = std::uint64_t{77} << 32 | static_cast<std::uint32_t>(now_s_ - age_s);
    slot.wanted = wanted;
    for (auto& word : slot.cores) word = cores;
  }

  const std::string name_ =
      fmt::format("/stoker-test-{}-{}", ::testing::UnitTest::GetInstance()->current_test_info()->name(), ::getpid());
  std::int64_t now_s_ = 1000;
};

int sum(const std::vector<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

TEST(FairShares, GivesEqualPartsToThoseWhoWantMore) {
  struct Case {
    std::vector<int> wants;
    int total;
    std::vector<int> shares;
  };
  const std::vector<Case> cases = {
      {{}, 8, {}},
      {{5}, 8, {5}},
      {{9}, 8, {8}},
      {{8, 8}, 8, {4, 4}},
      {{2, 8}, 8, {2, 6}},
      {{8, 2}, 8, {6, 2}},
      {{3, 4}, 8, {3, 4}},
      {{8, 8, 8}, 8, {3, 3, 2}},
      {{8, 1, 8, 8}, 9, {3, 1, 3, 2}},
      {{1, 2, 3, 8}, 8, {1, 2, 3, 2}},
      {{2, 4, 4}, 8, {2, 3, 3}},
      {{8, 8, 8}, 2, {1, 1, 1}},
      {{8, 8}, 0, {1, 1}},
      {{8, 8}, -5, {1, 1}},
      {{0, -3, INT_MIN, 8}, 8, {1, 1, 1, 5}},
      {{INT_MAX, INT_MAX, INT_MAX}, INT_MAX, {715827883, 715827882, 715827882}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(fair_shares(one.wants, one.total), one.shares) << ::testing::PrintToString(one.wants);
  }
}

/// Whether a loader that got less than it wants could get more only from loaders that would then have less than it; of
/// loaders with the same wish the first ones get no less than others.
bool nobody_is_worse_off(const std::vector<int>& wants, const std::vector<int>& shares) {
  const int most = *std::max_element(shares.begin(), shares.end());
  int last = most;
  for (std::size_t i = 0; i < wants.size(); ++i) {
    if (shares[i] == wants[i]) continue;
    if (shares[i] + 1 < most || shares[i] > last) return false;
    last = shares[i];
  }
  return true;
}

TEST(FairShares, TakesFromNobodyWhoHasLess) {
  Random random(8, 0, 0, 0);
  for (int round = 0; round < rounds(2000); ++round) {
    std::vector<int> wants(1 + random.below(12));
    for (int& want : wants) want = 1 + static_cast<int>(random.below(1 + random.below(20)));
    const int total = static_cast<int>(random.below(60));
    const std::vector<int> shares = fair_shares(wants, total);
    SCOPED_TRACE(
        fmt::format("{} of {} for {}", ::testing::PrintToString(shares), total, ::testing::PrintToString(wants)));
    ASSERT_THAT(shares, Pointwise(Le(), wants));
    EXPECT_THAT(shares, Each(Ge(1)));
    EXPECT_EQ(sum(shares), std::min(sum(wants), std::max(total, static_cast<int>(wants.size()))));
    EXPECT_TRUE(nobody_is_worse_off(wants, shares));
  }
}

TEST_F(HostShareTest, GivesALoaderAloneWhatItWants) {
  const auto share = join();
  EXPECT_EQ(share->update(0), 8) << "threads_max() of ten cores";
  EXPECT_EQ(share->update(-1), 8);
  EXPECT_EQ(share->update(5), 5);
  EXPECT_EQ(share->update(INT_MAX), 8);
  EXPECT_EQ(share->others(), 0);
}

TEST_F(HostShareTest, SharesWithALoaderOfTheSameProcessWhoeverAsksFirst) {
  const auto first = join(), second = join();
  EXPECT_EQ(first->update(0), 8) << "the other has not said yet that it is there";
  EXPECT_EQ(second->update(0), 4);
  EXPECT_EQ(first->update(0), 4);
  EXPECT_EQ(second->update(2), 2);
  EXPECT_EQ(first->update(0), 6);
  EXPECT_EQ(second->update(0), 4);
  EXPECT_EQ(first->update(0), 4);
  EXPECT_EQ(first->others(), 1);
}

TEST_F(HostShareTest, HasTheWholeAgainWhenTheOtherLeaves) {
  const auto stays = join();
  auto leaves = join();
  leaves->update(0);
  EXPECT_EQ(stays->update(0), 4);
  leaves.reset();
  EXPECT_EQ(stays->update(0), 8);
  EXPECT_EQ(stays->others(), 0);
}

TEST_F(HostShareTest, NeverGivesMoreThanThereIs) {
  Random random(9, 0, 0, 0);
  std::vector<std::unique_ptr<HostShare>> loaders(11);
  for (auto& loader : loaders) loader = join();
  for (int round = 0; round < rounds(50); ++round) {
    std::vector<int> wants, shares;
    for (std::size_t i = 0; i < 1 + static_cast<std::size_t>(round) % loaders.size(); ++i) {
      wants.push_back(1 + static_cast<int>(random.below(8)));
    }
    for (std::size_t i = 0; i < wants.size(); ++i) loaders[i]->update(wants[i]);
    for (std::size_t i = 0; i < wants.size(); ++i) shares.push_back(loaders[i]->update(wants[i]));
    EXPECT_LE(sum(shares), std::max(8, static_cast<int>(shares.size())));
    EXPECT_EQ(shares, fair_shares(wants, 8)) << "all come to the same, slot by slot";
    now_s_ += HostShare::kForgottenAfterS;  // of this round's loaders none is left in the next
  }
}

TEST_F(HostShareTest, SharesWithALoaderOfAnotherProcess) {
  const auto here = join();
  here->update(3);
  EXPECT_EQ(status_in_child([&] { return join()->update(0); }), 5);
  EXPECT_EQ(here->update(0), 8) << "the child has left";
}

TEST_F(HostShareTest, ForgetsALoaderWhoseProcessWasKilled) {
  const auto stays = join();
  const int status = status_in_child([&] {
    const auto killed = join();
    killed->update(0);
    return ::raise(SIGKILL);
  });
  ASSERT_EQ(status, -SIGKILL);
  EXPECT_EQ(stays->update(0), 4);
  now_s_ += HostShare::kRestsAfterS;
  EXPECT_EQ(stays->update(0), 7) << "it may rest";
  EXPECT_EQ(stays->others(), 1);
  now_s_ += HostShare::kForgottenAfterS - HostShare::kRestsAfterS;
  EXPECT_EQ(stays->update(0), 8);
  EXPECT_EQ(stays->others(), 0);
}

TEST_F(HostShareTest, CountsALoaderThatRestsAsOneThread) {
  const auto works = join(), rests = join();
  rests->update(0);
  now_s_ += HostShare::kRestsAfterS - 1;
  EXPECT_EQ(works->update(0), 4);
  now_s_ += 1;
  EXPECT_EQ(works->update(0), 7);
  EXPECT_EQ(rests->update(0), 4) << "it goes on";
  EXPECT_EQ(works->update(0), 4);
}

TEST_F(HostShareTest, FindsAnotherSlotWhereItsOwnWasTakenMeanwhile) {
  auto slept = join();
  const auto came = join();
  slept->update(0);
  now_s_ += HostShare::kForgottenAfterS;
  EXPECT_EQ(came->update(0), 8);
  const HostTable table(name_);
  ASSERT_EQ(table.slots()[1].claim, 0U) << "it was to take the first";
  EXPECT_EQ(slept->update(0), 4);
  EXPECT_EQ(came->update(0), 4);
  EXPECT_NE(table.slots()[1].claim, 0U);

  now_s_ += HostShare::kForgottenAfterS;
  const auto third = join();
  third->update(0);
  came->update(0);  // its slot is third's now
  slept->update(0);
  slept.reset();
  EXPECT_EQ(third->update(0), 4);
  EXPECT_EQ(came->update(0), 4);
}

TEST_F(HostShareTest, LeavesASlotThatIsAnothersNow) {
  auto slept = join();
  const auto came = join();
  slept->update(0);
  now_s_ += HostShare::kForgottenAfterS;
  came->update(0);
  slept.reset();
  EXPECT_EQ(join()->update(0), 4);
}

TEST_F(HostShareTest, SharesWhereSetsOfCoresMeet) {
  const auto low = join({0, 1, 2, 3, 4}), high = join({5, 6, 7, 8, 9}), far = join({1000, 1001});
  low->update(0);
  EXPECT_EQ(high->update(0), 4);
  EXPECT_EQ(low->update(0), 4);
  EXPECT_EQ(far->update(0), 2);
  EXPECT_EQ(low->others() + high->others() + far->others(), 0);

  const auto across = join({4, 5, 6, 7});
  EXPECT_EQ(across->update(0), 1) << "four for three, slot by slot: it has the last";
  EXPECT_EQ(across->others(), 2);
  EXPECT_EQ(low->update(0), 2);
  EXPECT_EQ(high->update(0), 2);
  EXPECT_EQ(far->update(0), 2);
}

TEST_F(HostShareTest, SharesWithEverybodyWhereItsCoresAreNotKnown) {
  const auto somewhere = join({700}), unknown = join({});
  somewhere->update(0);
  EXPECT_EQ(unknown->update(0), std::max(1, threads_max(usable_cores()) - 1));
  EXPECT_EQ(unknown->others(), 1);
}

TEST_F(HostShareTest, TakesCoresWithOutlandishNumbers) {
  const auto one = join({5000, -1, INT_MIN, INT_MAX}), other = join({5000});
  one->update(0);
  other->update(0);
  EXPECT_EQ(other->others(), 1);
}

TEST_F(HostShareTest, KeepsToALimitBelowItsCores) {
  HostShareOptions with_quota = options();
  with_quota.threads_max = 3;
  HostShare limited(kTenCores, with_quota), other(kTenCores, with_quota);
  EXPECT_EQ(limited.update(0), 3);
  EXPECT_EQ(other.update(0), 1);
  EXPECT_EQ(limited.update(0), 2);
}

TEST_F(HostShareTest, DoesNothingInAForkedChild) {
  auto parents = join();
  const auto other = join();
  parents->update(5);
  other->update(0);
  EXPECT_EQ(parents->update(5), 4);
  const HostTable table(name_);
  const std::uint64_t claim = table.slots()[0].claim;
  now_s_ += 1;
  const int told = status_in_child([&] {
    const int share = parents->update(1);
    parents.reset();
    return share;
  });
  EXPECT_EQ(told, 4);
  EXPECT_EQ(table.slots()[0].claim, claim);
  EXPECT_EQ(table.slots()[0].wanted, 5);
  EXPECT_EQ(other->update(0), 4);
  EXPECT_EQ(status_in_child([&] { return join()->update(0); }), 2) << "a loader of the child's own counts";
}

TEST_F(HostShareTest, IsAloneWhereAllSlotsAreTaken) {
  const HostTable table(name_);
  for (HostSlot& slot : table.slots()) fill(slot, 8);
  const auto share = join();
  EXPECT_EQ(share->update(0), 8);
  EXPECT_EQ(share->others(), 0);
  table.slots()[200].claim = 0;
  EXPECT_EQ(share->update(0), 1);
  EXPECT_EQ(share->others(), 255);
}

TEST_F(HostShareTest, LetsNoSlotStarveIt) {
  const auto share = join();
  share->update(0);
  const HostTable table(name_);
  HostSlot& slot = table.slots()[17];
  for (const int wanted : {INT_MAX, 4097, 8, 4}) {
    fill(slot, wanted);
    EXPECT_EQ(share->update(0), 4) << wanted;
  }
  for (const int wanted : {1, 0, -1, INT_MIN}) {
    fill(slot, wanted);
    EXPECT_EQ(share->update(0), 7) << wanted;
  }
  fill(slot, 8, 0, 0);
  EXPECT_EQ(share->update(0), 8) << "on no core";
  fill(slot, 8, -HostShare::kForgottenAfterS);
  EXPECT_EQ(share->update(0), 8) << "from the future";
  fill(slot, 8, -1);
  EXPECT_EQ(share->update(0), 4) << "heard of since we looked at the clock";
  slot.claim = static_cast<std::uint32_t>(now_s_);
  EXPECT_EQ(share->update(0), 8) << "no loader's";
}

TEST_F(HostShareTest, MakesDoWithAnyContents) {
  Random random(10, 0, 0, 0);
  const auto share = join();
  const HostTable table(name_);
  for (int round = 0; round < rounds(100); ++round) {
    const std::uint64_t pattern = random.next_u64();
    for (HostSlot& slot : table.slots()) {
      const std::uint64_t mixed = round % 3 == 0 ? pattern : random.next_u64();
      slot.claim = round % 2 == 0 ? mixed : (mixed | 1ULL << 32) >> 32 << 32 | static_cast<std::uint32_t>(now_s_);
      slot.wanted = static_cast<std::int32_t>(mixed);
      for (auto& word : slot.cores) word = round % 3 == 0 ? mixed : random.next_u64();
    }
    const int given = share->update(0);
    EXPECT_GE(given, 1);
    EXPECT_LE(given, 8);
    EXPECT_LT(share->others(), static_cast<int>(HostTable::kSlots));
  }
  for (HostSlot& slot : table.slots()) slot.claim = 0;
  EXPECT_EQ(share->update(0), 8);
}

TEST_F(HostShareTest, GoesOnInTheNextTableWhenItsOwnIsRemoved) {
  const auto one = join(), other = join();
  one->update(0);
  EXPECT_EQ(other->update(0), 4);
  ASSERT_EQ(::shm_unlink(name_.c_str()), 0);
  EXPECT_EQ(one->update(0), 8);
  const auto later = join();
  EXPECT_EQ(later->update(0), 4);
  EXPECT_EQ(other->update(0), 2) << "all three have met again";
  EXPECT_EQ(other->others(), 2);
}

TEST_F(HostShareTest, SharesWithinItsProcessWhereTheTableCannotBeHad) {
  HostShareOptions without = options();
  without.table = "/no-folder" + name_;
  HostShare one(kTenCores, without), other(kTenCores, without);
  EXPECT_EQ(one.update(0), 8);
  EXPECT_EQ(other.update(0), 4);
  EXPECT_EQ(one.update(0), 4);
}

TEST_F(HostShareTest, GivesASlotToOneWhenManyComeAtOnce) {
  constexpr int kThreads = 4;
  const HostTable table(name_);
  std::atomic<int> lost = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int wanted = 1; wanted <= kThreads; ++wanted) {
    threads.emplace_back([&, wanted] {
      for (int round = 0; round < rounds(300); ++round) {
        const auto mine = join();
        mine->update(wanted);
        lost += std::none_of(table.slots().begin(), table.slots().end(),
                             [&](const HostSlot& slot) { return slot.claim != 0 && slot.wanted == wanted; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0) << "slots that were another's, too";
}

TEST_F(HostShareTest, IsUpdatedByManyThreads) {
  constexpr int kThreads = 8;
  for (int round = 0; round < rounds(20); ++round) {
    std::vector<std::unique_ptr<HostShare>> loaders(kThreads);
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (auto& loader : loaders) {
      threads.emplace_back([&] {
        auto mine = join();
        for (int i = 0; i < 50; ++i) {
          const int share = mine->update(1 + i % 8);
          EXPECT_TRUE(share >= 1 && share <= 1 + i % 8) << share;
        }
        mine->update(0);
        loader = std::move(mine);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& loader : loaders) EXPECT_EQ(loader->update(0), 1);
    EXPECT_EQ(loaders.front()->others(), kThreads - 1);
  }
}

TEST_F(HostShareTest, GivesEachOfManyProcessesASlotOfItsOwn) {
  std::array<int, 2> gate{};  // that opens when the last of its writing ends is closed
  ASSERT_EQ(::pipe(gate.data()), 0);
  std::array<pid_t, 6> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child != 0) continue;
    ::alarm(20);
    ::close(gate[1]);
    char none = 0;
    if (::read(gate[0], &none, 1) != 0) ::_exit(1);
    const auto mine = join();
    for (int i = 0; i < 200; ++i) mine->update(1 + i % 8);
    ::raise(SIGKILL);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  const auto share = join();
  share->update(0);
  EXPECT_EQ(share->others(), static_cast<int>(children.size()));
}

}  // namespace
}  // namespace stoker
