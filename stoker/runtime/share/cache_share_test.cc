#include "stoker/runtime/share/cache_share.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/runtime/living_child_testing.h"

namespace stoker {
namespace {

constexpr std::uint64_t kBytes = 1 << 16;

/// Of this test in this process.
std::string name(const char* test) { return fmt::format("stoker-test-{}-{}", test, ::getpid()); }

TEST(CacheShare, GivesOneMemoryToAllWhoAskForTheName) {
  CacheShare first(name("one"), kBytes), second(name("one"), kBytes);
  EXPECT_TRUE(first.serves());
  EXPECT_FALSE(second.serves());
  const SharedMemory a = first.take(), b = second.take();
  ASSERT_NE(a.data(), b.data());
  a.data()[kBytes - 1] = 42;
  EXPECT_EQ(b.data()[kBytes - 1], 42);
}

TEST(CacheShare, ReachesAnotherProcess) {
  const std::string shared = name("process");
  CacheShare here(shared, kBytes);
  const SharedMemory memory = here.take();
  memory.data()[7] = 1;
  const int seen = status_in_child([&] {
    CacheShare there(shared, kBytes);
    const SharedMemory theirs = there.take();
    theirs.data()[8] = 2;
    return there.serves() ? -1 : theirs.data()[7];
  });
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(memory.data()[8], 2);
}

TEST(CacheShare, KeepsApartOtherNamesAndThoseWithoutOne) {
  CacheShare one(name("a"), kBytes), other(name("b"), kBytes), own("", kBytes), another("", kBytes);
  EXPECT_TRUE(one.serves() && other.serves());
  EXPECT_FALSE(own.serves() || another.serves());
  const SharedMemory a = one.take(), b = other.take(), c = own.take(), d = another.take();
  a.data()[0] = 1;
  EXPECT_EQ(b.data()[0] + c.data()[0] + d.data()[0], 0);
}

TEST(CacheShare, OutlivesWhoMadeIt) {
  auto first = std::make_unique<CacheShare>(name("outlives"), kBytes);
  CacheShare second(name("outlives"), kBytes);
  first->take().data()[5] = 9;
  first.reset();
  const SharedMemory memory = second.take();
  EXPECT_EQ(memory.data()[5], 9);
  CacheShare later(name("outlives"), kBytes);
  EXPECT_TRUE(later.serves()) << "the name is free again";
  EXPECT_EQ(later.take().data()[5], 0);
}

TEST(CacheShare, FreesItsNameThoughAForkedChildLivesOn) {
  auto first = std::make_unique<CacheShare>(name("child"), kBytes);
  CacheShare other(name("other"), kBytes);
  const LivingChild child;
  ASSERT_TRUE(child.lives());
  first.reset();
  CacheShare later(name("child"), kBytes, std::chrono::milliseconds(20));
  EXPECT_TRUE(later.serves()) << "the child has no socket of that name";
  EXPECT_TRUE(CacheShare(name("other"), kBytes).take().data() != nullptr) << "the parent serves as before";
  EXPECT_TRUE(other.serves());
}

TEST(CacheShare, HasOneMakerHoweverManyComeAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const std::string shared = name(fmt::format("race{}", round).c_str());
    std::vector<std::unique_ptr<CacheShare>> shares(round == 0 ? 40 : 6);  // more than a socket queues, too
    std::atomic<int> waiting = static_cast<int>(shares.size());
    std::vector<std::thread> threads;
    for (auto& share : shares) {
      threads.emplace_back([&] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        share = std::make_unique<CacheShare>(shared, kBytes);
      });
    }
    for (std::thread& thread : threads) thread.join();
    int makers = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) makers += shares[i]->serves() ? 1 : 0;
    EXPECT_EQ(makers, 1);
    std::vector<SharedMemory> memories;
    for (auto& share : shares) memories.push_back(share->take());
    memories.front().data()[1] = 77;
    for (const SharedMemory& memory : memories) EXPECT_EQ(memory.data()[1], 77);
  }
}

TEST(CacheShare, MakesDoWithItsOwnWhereSomethingElseHasTheName) {
  const std::string taken = name("taken");
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  taken.copy(address.sun_path + 1, taken.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + taken.size())),
            0);  // and never answers
  LogCapture log;
  CacheShare share(taken, kBytes, std::chrono::milliseconds(20));
  EXPECT_FALSE(share.serves());
  EXPECT_EQ(share.take().data()[0], 0);
  EXPECT_THAT(log.lines, ::testing::ElementsAre(::testing::HasSubstr("is not shared with other processes")));
  ::close(socket);
}

}  // namespace
}  // namespace stoker
