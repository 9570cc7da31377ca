#include "stoker/runtime/board/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Tickets of one batch, each of which is to read one field.
class Reading : public testing::Test {
 protected:
  Reading() { work_.tickets.resize(8); }

  Ticket& ticket(std::uint64_t bytes) {
    Ticket& made = work_.tickets[static_cast<std::size_t>(work_.drawn)];
    made.work = &work_;
    made.slot = work_.drawn++;
    ++work_.unfinished;
    made.row.fields.resize(1);
    made.row.fields[0].length = bytes;
    made.reads.resize(1);
    made.reads[0].field = made.row.fields.data();
    made.reads[0].length = bytes;
    made.bytes = EncodedArena::in_units(bytes);
    made.wants_read = true;
    return made;
  }

  static void fail_with(Ticket& ticket, ErrorKind kind, bool shared = false) {
    ticket.error = std::make_exception_ptr(Error(kind, "the disk hiccups"));
    ticket.error_shared = shared;
  }

  BatchWork work_;
  ReadAhead read_ahead_{{.bytes = 4 * EncodedArena::kUnit, .near_bytes = 1000, .reserve_bytes = 1000},
                        host_allocator()};
};

TEST_F(Reading, IsGrantedItsBytesWhileThereIsRoom) {
  Ticket& first = ticket(3 * EncodedArena::kUnit);
  ASSERT_TRUE(read_ahead_.grant(first));
  EXPECT_EQ(first.reads_pending, 1);
  EXPECT_EQ(first.reads[0].bytes.size(), 3 * EncodedArena::kUnit);
  Ticket& second = ticket(2 * EncodedArena::kUnit);
  EXPECT_FALSE(read_ahead_.grant(second));
  EXPECT_EQ(read_ahead_.refused(), &second);
  EXPECT_FALSE(read_ahead_.fits(second));
  read_ahead_.release(first);
  EXPECT_TRUE(read_ahead_.fits(second));
  EXPECT_TRUE(read_ahead_.grant(second));
  EXPECT_FALSE(read_ahead_.refuses());
}

TEST_F(Reading, GoesFurtherAheadOnlyWhereAWorkerStarved) {
  ReadAhead read_ahead({.bytes = 64 * EncodedArena::kUnit,
                        .least_bytes = 4 * EncodedArena::kUnit,
                        .near_bytes = 32 * EncodedArena::kUnit,
                        .reserve_bytes = 1000},
                       host_allocator());
  EXPECT_EQ(read_ahead.near_bytes(), 2 * EncodedArena::kUnit);
  for (int number = 0; number < 4; ++number) ASSERT_TRUE(read_ahead.grant(ticket(EncodedArena::kUnit)));
  Ticket& fifth = ticket(EncodedArena::kUnit);
  EXPECT_FALSE(read_ahead.grant(fifth));
  read_ahead.starved(kSecond);
  EXPECT_EQ(read_ahead.depth(), 8 * EncodedArena::kUnit);
  EXPECT_EQ(read_ahead.near_bytes(), 4 * EncodedArena::kUnit);
  EXPECT_TRUE(read_ahead.grant(fifth));
  for (int times = 0; times < 8; ++times) read_ahead.starved(kSecond);
  EXPECT_EQ(read_ahead.depth(), read_ahead.capacity());
}

TEST_F(Reading, TakesAsMuchAtOnceAsSomeOfItsSize) {
  ReadAhead read_ahead({.bytes = 64 * EncodedArena::kUnit, .least_bytes = 4 * EncodedArena::kUnit}, host_allocator());
  for (int number = 0; number < 3; ++number) EXPECT_TRUE(read_ahead.grant(ticket(8 * EncodedArena::kUnit)));
}

TEST_F(Reading, HasNoRoomForAnEmptyFieldInAFullArenaEither) {
  Ticket& full = ticket(read_ahead_.capacity());
  ASSERT_TRUE(read_ahead_.grant(full));
  EXPECT_EQ(read_ahead_.used(), read_ahead_.capacity());
  Ticket& empty = ticket(0);
  EXPECT_FALSE(read_ahead_.grant(empty));
  read_ahead_.release(full);
  ASSERT_TRUE(read_ahead_.grant(empty));
  EXPECT_EQ(empty.reads_pending, 1);
}

TEST_F(Reading, NeedsNoRoomWhereNobodyWantsTheTicket) {
  ASSERT_TRUE(read_ahead_.grant(ticket(read_ahead_.capacity())));
  Ticket& second = ticket(1);
  EXPECT_FALSE(read_ahead_.grant(second));
  work_.discarded = true;
  EXPECT_TRUE(read_ahead_.fits(second));
  EXPECT_TRUE(read_ahead_.grant(second));
  EXPECT_EQ(second.reads_pending, 0);
}

TEST_F(Reading, OfASubstituteHasRoomOfItsOwn) {
  ASSERT_TRUE(read_ahead_.grant(ticket(read_ahead_.capacity())));
  Ticket& second = ticket(600);
  second.bad_sample = 3;
  read_ahead_.add_substitute(second);
  EXPECT_TRUE(read_ahead_.has_again());
  ASSERT_EQ(read_ahead_.substitute(), &second);
  EXPECT_TRUE(read_ahead_.grant(second));
  Ticket& third = ticket(600);
  third.bad_sample = 4;
  EXPECT_FALSE(read_ahead_.grant(third)) << "there is no more of that either";
  EXPECT_TRUE(read_ahead_.refuses());
  EXPECT_EQ(read_ahead_.refused(), nullptr);
  EXPECT_FALSE(read_ahead_.has_again());
  read_ahead_.release(second);
  EXPECT_TRUE(read_ahead_.has_again());
}

TEST_F(Reading, IsDoneAtMostThreeTimes) {
  for (const ErrorKind kind : {ErrorKind::kIo, ErrorKind::kMemory}) {
    Ticket& failing = ticket(10);
    ASSERT_TRUE(read_ahead_.grant(failing));
    const std::uint8_t* const bytes = failing.grant.bytes.data();
    for (int attempt = 1; attempt <= 3; ++attempt) {
      EXPECT_EQ(failing.attempts, attempt);
      EXPECT_EQ(failing.reads_pending, 1);
      EXPECT_EQ(failing.grant.bytes.data(), bytes);
      fail_with(failing, kind);
      EXPECT_EQ(read_ahead_.keep_to_read_again(failing), attempt < 3);
      if (attempt == 3) break;
      EXPECT_TRUE(read_ahead_.has_again());
      EXPECT_EQ(read_ahead_.again(attempt), nullptr);
      ASSERT_EQ(read_ahead_.again(attempt + kSecond), &failing);
      EXPECT_EQ(failing.error, nullptr);
    }
    EXPECT_NE(failing.error, nullptr);
    read_ahead_.release(failing);
  }
}

TEST_F(Reading, IsNotDoneAgainWhereTheErrorIsFinal) {
  Ticket& failing = ticket(10);
  ASSERT_TRUE(read_ahead_.grant(failing));
  fail_with(failing, ErrorKind::kData);
  EXPECT_FALSE(read_ahead_.keep_to_read_again(failing));
  fail_with(failing, ErrorKind::kData, true);
  EXPECT_TRUE(read_ahead_.keep_to_read_again(failing)) << "it may be a neighbour's";
}

TEST_F(Reading, WaitsLongerEachTimeBeforeItIsDoneAgain) {
  Ticket& first = ticket(10);
  ASSERT_TRUE(read_ahead_.grant(first));
  const auto fail_read = [&](bool shared) {
    fail_with(first, ErrorKind::kIo, shared);
    ASSERT_TRUE(read_ahead_.keep_to_read_again(first));
    EXPECT_TRUE(read_ahead_.has_again()) << "not looked at yet";
    EXPECT_EQ(read_ahead_.next_again_ns(), std::nullopt);
  };
  const std::int64_t now = 1000;
  fail_read(true);
  EXPECT_EQ(read_ahead_.again(now), &first) << "at once: it may have been a neighbour's fault";
  fail_read(false);
  EXPECT_EQ(read_ahead_.again(now), nullptr);
  EXPECT_FALSE(read_ahead_.has_again());
  const std::int64_t due = now + read_again_delay_ns(2);
  EXPECT_EQ(read_ahead_.next_again_ns(), due);
  EXPECT_EQ(read_ahead_.again(due - 1), nullptr);
  EXPECT_EQ(read_ahead_.again(due), &first);
  EXPECT_EQ(read_ahead_.next_again_ns(), std::nullopt);

  EXPECT_EQ(read_again_delay_ns(1), kSecond / 100);
  for (int attempts = 1; attempts < 100; ++attempts) {
    EXPECT_EQ(read_again_delay_ns(attempts + 1), std::min(4 * read_again_delay_ns(attempts), kSecond));
  }
}

TEST_F(Reading, IsForgottenWithItsEpoch) {
  Ticket& failing = ticket(10);
  Ticket& bad = ticket(10);
  ASSERT_TRUE(read_ahead_.grant(failing));
  fail_with(failing, ErrorKind::kIo);
  ASSERT_TRUE(read_ahead_.keep_to_read_again(failing));
  read_ahead_.add_substitute(bad);
  read_ahead_.forget_again();
  EXPECT_FALSE(read_ahead_.has_again());
  EXPECT_EQ(read_ahead_.used(), 0U);
  EXPECT_EQ(work_.unfinished, 0);
}

}  // namespace
}  // namespace stoker
