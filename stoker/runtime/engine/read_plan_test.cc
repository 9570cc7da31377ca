// Plans by hand: tickets of made-up samples, whose reads are looked at and never made.
#include "stoker/runtime/engine/read_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "stoker/base/allocations_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr std::uint64_t kKilo = 1000, kMega = 1000 * kKilo;

struct Range {
  std::uint64_t offset, length;
};

class Plan : public testing::Test {
 protected:
  /// A granted ticket whose sample has these fields. Tickets lie in the arena in the order they are made in.
  Ticket& ticket(const std::vector<Range>& fields, Source* source = nullptr, std::string_view part = {}) {
    Ticket& made = tickets_.emplace_back();
    made.row.fields.resize(fields.size());
    made.reads.resize(fields.size());
    made.grant.place = place_;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      made.row.fields[i] = {.name = "jpg", .part = part, .offset = fields[i].offset, .length = fields[i].length};
      memory_.emplace_back(fields[i].length);
      FieldRead& read = made.reads[i];
      read.field = &made.row.fields[i];
      read.length = fields[i].length;
      read.source = source ? source : &one_;
      read.bytes = memory_.back();
      read.ticket = &made;
      place_ += fields[i].length;
    }
    made.reads_pending = static_cast<int>(fields.size());
    return made;
  }

  Ticket& add(const std::vector<Range>& fields, Source* source = nullptr, std::string_view part = {}) {
    Ticket& made = ticket(fields, source, part);
    plan_.add(made);
    return made;
  }

  /// "offset: length of each piece, (hole)".
  static std::string text_of(const PlannedRead& read) {
    std::string text = std::to_string(read.request.offset) + ":";
    for (const MutableBytes piece : read.request.into) {
      const std::string size = std::to_string(piece.size());
      text += is_hole(piece) ? " (" + size + ")" : " " + size;
    }
    return text;
  }

  std::vector<std::string> plan_all() { return plan_near(~std::uint64_t{0}); }
  std::vector<std::string> plan_near(std::uint64_t near_end) { return texts_of(plan_.plan(near_end)); }
  static std::vector<std::string> texts_of(std::span<PlannedRead* const> reads) {
    std::vector<std::string> texts;
    for (const PlannedRead* read : reads) texts.push_back(text_of(*read));
    return texts;
  }

  MemorySource one_{"one.tar", {}}, other_{"other.tar", {}};
  std::deque<Ticket> tickets_;
  std::deque<std::vector<std::uint8_t>> memory_;
  std::uint64_t place_ = 0;
  ReadPlan plan_;
};

TEST_F(Plan, ReadsNeighboursTogetherInWhateverOrderTheyAreDrawn) {
  add({{2500, 1000}});
  add({{0, 1000}});
  add({{1000, 1000}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 1000 1000 (500) 1000"));
  EXPECT_THAT(plan_all(), IsEmpty());
}

TEST_F(Plan, TellsEachFieldItsOwnBytes) {
  Ticket& second = add({{1000, 7}, {1007, 5}});
  Ticket& first = add({{0, 900}});
  const PlannedRead& read = *plan_.plan(~std::uint64_t{0}).front();
  EXPECT_EQ(read.request.into[0].data(), first.reads[0].bytes.data());
  EXPECT_EQ(read.request.into[2].data(), second.reads[0].bytes.data());
  EXPECT_EQ(read.request.into[3].data(), second.reads[1].bytes.data());
  EXPECT_EQ(read.fields, &first.reads[0]);
  EXPECT_EQ(read.fields->next, &second.reads[0]);
  EXPECT_EQ(read.fields->next->next, &second.reads[1]);
  EXPECT_EQ(read.fields->next->next->next, nullptr);
  EXPECT_EQ(read.wanted, 912u);
  EXPECT_EQ(read.request.length(), 1012u);
}

TEST_F(Plan, KnowsWhichReadsSeveralTicketsShare) {
  add({{0, 100}, {100, 100}});
  EXPECT_FALSE(plan_.plan(~std::uint64_t{0}).front()->shared) << "two fields of one ticket";
  add({{0, 100}});
  add({{100, 100}});
  EXPECT_TRUE(plan_.plan(~std::uint64_t{0}).front()->shared);
}

/// Where a request costs as much as reading `gap` bytes.
class FarSource final : public Source {
 public:
  explicit FarSource(std::uint64_t gap, bool is_remote = false) : gap_(gap), is_remote_(is_remote) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view) const override { return std::uint64_t{1} << 40; }
  void start(ReadRequest&) override { ADD_FAILURE() << "a plan reads nothing"; }
  std::uint64_t gap_worth_reading() const override { return gap_; }
  bool is_remote() const override { return is_remote_; }

 private:
  std::string name_ = "far.tar";
  std::uint64_t gap_;
  bool is_remote_;
};

// A window whose reading has just begun, in a store: what is wanted soon does not wait for what is wanted later.
TEST_F(Plan, LeavesNeighboursOfABegunWindowUntilTheyAreNear) {
  for (const bool is_remote : {true, false}) {
    FarSource source(0, is_remote);
    const std::uint64_t begin = place_;
    for (const std::uint64_t offset : {0, 100, 200, 300}) {
      Ticket& drawn = ticket({{offset, 100}}, &source);
      drawn.early = true;
      plan_.add(drawn);
    }
    if (is_remote) {
      EXPECT_THAT(plan_near(begin + 200), ElementsAre("0: 100 100"));
      EXPECT_THAT(plan_near(begin + 200), IsEmpty());
      EXPECT_THAT(plan_near(begin + 400), ElementsAre("200: 100 100"));
    } else {
      EXPECT_THAT(plan_near(begin + 200), ElementsAre("0: 100 100 100 100"));
    }
    EXPECT_FALSE(plan_.waiting());
  }
}

TEST_F(Plan, ReadsOverGapsThatTheSourceFindsWorthReading) {
  add({{0, 10}});
  add({{10 + one_.gap_worth_reading(), 10}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 10 (16384) 10"));
  add({{0, 10}});
  add({{11 + one_.gap_worth_reading(), 10}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 10", "16395: 10"));
  FarSource far(100'000), near(0);
  add({{0, 10}}, &far);
  add({{100'010, 10}}, &far);
  EXPECT_THAT(plan_all(), ElementsAre("0: 10 (100000) 10"));
  add({{0, 10}}, &near);
  add({{10, 10}}, &near);
  add({{21, 10}}, &near);
  EXPECT_THAT(plan_all(), ElementsAre("0: 10 10", "21: 10"));
}

/// Of so many bytes, that are to be read in units of 512.
class DirectSource final : public Source {
 public:
  explicit DirectSource(std::uint64_t size) : size_(size) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view) const override { return size_; }
  void start(ReadRequest&) override { ADD_FAILURE() << "a plan reads nothing"; }
  std::uint64_t alignment() const override { return 512; }

 private:
  const std::string name_ = "direct.tar";
  const std::uint64_t size_;
};

TEST_F(Plan, ReadsWholeUnitsWhereNothingElseIsWanted) {
  DirectSource direct(8192);
  add({{512, 1000}}, &direct);
  add({{2048, 600}}, &direct);
  add({{2700, 100}}, &direct);  // begins where the padding of the one before would end
  add({{7680, 500}}, &direct);
  EXPECT_THAT(plan_all(), ElementsAre("512: 1024 (512) 600 (52) 512 (4468) 512"));
}

TEST_F(Plan, ReadsNoFurtherThanTheSource) {
  DirectSource direct(8100);
  add({{7680, 400}}, &direct);
  EXPECT_THAT(plan_all(), ElementsAre("7680: 400"));
}

TEST_F(Plan, ReadsNoFurtherThanAFieldThatLiesPastTheSource) {
  DirectSource source(5000);
  add({{10'000, 100}, {10'600, 100}}, &source);
  EXPECT_THAT(plan_all(), ElementsAre("10000: 512 (88) 100"));
}

TEST_F(Plan, EndsAReadAtItsLimitOfBytes) {
  add({{0, ReadPlan::kBytesMax - 100}});
  add({{ReadPlan::kBytesMax - 100, 100}});
  add({{ReadPlan::kBytesMax, 1}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 1044380 100", "1044480: 1"));
}

TEST_F(Plan, ReadsAFieldBeyondThatLimitByItself) {
  add({{0, 5 * kMega}});
  add({{5 * kMega, 10}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 5000000", "5000000: 10"));
}

TEST_F(Plan, EndsAReadAtItsLimitOfPieces) {
  for (std::uint64_t i = 0; i < 200; ++i) add({{2 * i, 1}});
  const auto reads = plan_.plan(~std::uint64_t{0});
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0]->request.into.size(), ReadPlan::kPiecesMax - 1);
  EXPECT_EQ(reads[1]->request.into.size(), 2u * 72 - 1);
}

TEST_F(Plan, KeepsSourcesApart) {
  add({{0, 10}}, &one_);
  add({{10, 10}}, &other_);
  const auto reads = plan_.plan(~std::uint64_t{0});
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0]->source, &one_) << "the oldest ticket's first, wherever it lies";
  EXPECT_EQ(reads[1]->source, &other_);
}

TEST_F(Plan, ReadsASampleOnceThatIsDrawnSeveralTimes) {
  Ticket& first = add({{0, 10}});
  Ticket& next = add({{10, 10}});
  Ticket& second = add({{0, 10}});
  Ticket& third = add({{0, 10}});
  const auto reads = plan_.plan(~std::uint64_t{0});
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(text_of(*reads[0]), "0: 10 10");
  EXPECT_EQ(reads[0]->wanted, 20u);
  EXPECT_TRUE(reads[0]->shared);
  const std::vector<std::uint8_t> bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::copy(bytes.begin(), bytes.end(), reads[0]->request.into[0].begin());
  reads[0]->copy_fields();
  for (const Ticket* one : {&first, &second, &third}) EXPECT_THAT(one->reads[0].bytes, ElementsAreArray(bytes));
  EXPECT_THAT(next.reads[0].bytes, Each(0));

  plan_.add_alone(second);  // a read failed
  EXPECT_THAT(plan_all(), ElementsAre("0: 10"));
  EXPECT_EQ(second.reads[0].copies, nullptr);
}

TEST_F(Plan, ReadsFieldsThatOverlapApart) {
  add({{0, 10}});
  add({{5, 10}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 10", "5: 10"));
}

TEST_F(Plan, ReadsWholeUnitsOfWhatIsDrawnTwice) {
  DirectSource direct(8192);
  add({{512, 1000}}, &direct);
  add({{2048, 100}}, &direct);
  add({{512, 1000}}, &direct);
  EXPECT_THAT(plan_all(), ElementsAre("512: 1024 (512) 512"));
}

TEST_F(Plan, ReadsEmptyFieldsToo) {
  add({{0, 0}});
  add({{0, 10}});
  add({{10, 0}});
  EXPECT_THAT(plan_all(), ElementsAre("0: 0 10 0"));
}

TEST_F(Plan, KeepsWaitingWhatIsNotWantedSoon) {
  add({{5 * kMega, 10}});
  add({{0, 10}});
  EXPECT_THAT(plan_near(5), ElementsAre("5000000: 10"));
  EXPECT_TRUE(plan_.waiting());
  add({{10, 10}});  // in time to be read with the one before it
  EXPECT_THAT(plan_near(5), IsEmpty());
  EXPECT_THAT(plan_near(11), ElementsAre("0: 10 10"));
  EXPECT_FALSE(plan_.waiting());
}

TEST_F(Plan, ReadsWhatLiesBesideWhatIsWantedSoon) {
  add({{kMega / 2, 10}});
  add({{9 * kMega, 10}});
  add({{kMega / 2 + 10, 10}});
  add({{kMega / 2 - 10, 10}});
  EXPECT_THAT(plan_near(1), ElementsAre("499990: 10 10 10"));
  EXPECT_THAT(plan_all(), ElementsAre("9000000: 10"));
}

TEST_F(Plan, StartsWithTheOldestTicket) {
  add({{9 * kMega, 10}});
  add({{5 * kMega, 10}});
  add({{7 * kMega, 10}});
  add({{5 * kMega + 10, 10}});
  EXPECT_THAT(plan_all(), ElementsAre("9000000: 10", "5000000: 10 10", "7000000: 10"));
}

TEST_F(Plan, NeitherMergesLooseFilesNorLetsThemWait) {
  add({{0, 10}}, nullptr, "a.jpg");
  add({{10, 10}}, nullptr, "a.jpg");
  const auto reads = plan_.plan(0);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0]->request.part, "a.jpg");
  EXPECT_FALSE(plan_.waiting());
}

TEST_F(Plan, LetsAllButUrgentOnesWaitWhereThatIsWanted) {
  add({{0, 10}}, nullptr, "a.jpg");
  plan_.add_alone(ticket({{30, 10}}));
  add({{20, 10}});
  EXPECT_THAT(texts_of(plan_.plan_urgent()), ElementsAre("30: 10"));
  EXPECT_THAT(plan_.plan_urgent(), IsEmpty());
  EXPECT_TRUE(plan_.waiting());
  EXPECT_THAT(plan_all(), ElementsAre("0: 10", "20: 10"));
  EXPECT_FALSE(plan_.waiting());
}

TEST_F(Plan, ReadsAgainEachFieldByItselfAndAtOnce) {
  plan_.add_alone(ticket({{0, 10}, {10, 10}}));
  add({{20, 10}});
  EXPECT_THAT(plan_near(0), ElementsAre("0: 10", "10: 10"));
  EXPECT_THAT(plan_all(), ElementsAre("20: 10"));
}

TEST_F(Plan, ForgetsTicketsNobodyWants) {
  Ticket& unwanted = add({{0, 10}, {20, 10}});
  add({{10, 10}});
  std::vector<Ticket*> forgotten;
  plan_.forget_if([&](const Ticket& one) { return &one == &unwanted; },
                  [&](Ticket& one) { forgotten.push_back(&one); });
  EXPECT_THAT(forgotten, ElementsAre(&unwanted));
  EXPECT_THAT(plan_all(), ElementsAre("10: 10"));
}

TEST_F(Plan, LeavesTheReadsUnderWayOfATicketThatIsForgotten) {
  Ticket& unwanted = add({{0, 10}, {9 * kMega, 10}});
  unwanted.grant.place = 100;
  add({{10, 10}}).grant.place = 0;
  EXPECT_THAT(plan_near(1), ElementsAre("0: 10 10"));
  int forgotten = 0;
  plan_.forget_if([](const Ticket&) { return true; }, [&](Ticket&) { ++forgotten; });
  EXPECT_EQ(forgotten, 0) << "its first field is still being read";
  EXPECT_EQ(unwanted.reads_pending, 1);
}

TEST_F(Plan, AllocatesNothingOnceItHasSeenAsMuch) {
  std::vector<Ticket*> tickets;
  for (std::uint64_t i = 0; i < 500; ++i) tickets.push_back(&ticket({{i * 3000 % 500'000, 2000}}));
  const auto round = [&] {
    for (Ticket* one : tickets) plan_.add(*one);
    PlannedRead* ended = nullptr;
    for (const std::uint64_t near_end : {std::uint64_t{100'000}, ~std::uint64_t{0}}) {
      for (PlannedRead* read : plan_.plan(near_end)) read->next = std::exchange(ended, read);
    }
    plan_.release(ended);
  };
  for (int i = 0; i < 100; ++i) round();  // until each read has had the longest list of pieces
  const std::int64_t before = allocations_so_far();
  round();
  EXPECT_EQ(allocations_so_far(), before);
}

}  // namespace
}  // namespace stoker
