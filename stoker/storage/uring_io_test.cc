#include "stoker/storage/uring_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <liburing.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <latch>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/storage/posix_file.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

int forbidden_setup(unsigned, io_uring*, unsigned) { return -EPERM; }
int unknown_setup(unsigned, io_uring*, unsigned) { return -ENOSYS; }
int forbidden_submit(io_uring*) { return -EACCES; }

UringCalls with_setup(int (*set_up)(unsigned, io_uring*, unsigned)) {
  UringCalls calls = UringCalls::real();
  calls.set_up = set_up;
  return calls;
}

TEST(UringIo, SaysWhyItDoesNotWorkWhereItIsForbidden) {
  EXPECT_THAT(UringIo::why_not(with_setup(forbidden_setup)),
              AllOf(HasSubstr("io_uring"), HasSubstr("not permitted"), HasSubstr("containers")));
  EXPECT_THAT(UringIo::why_not(with_setup(unknown_setup)), HasSubstr("not implemented"));
  const Error error =
      error_of([] { UringIo(std::make_shared<InlineExecutor>(), {.calls = with_setup(forbidden_setup)}); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.message(), HasSubstr("not permitted"));
}

/// Reads in flight, with their memory.
class Reads {
 public:
  Reads(std::size_t count, std::size_t bytes_each, int fd) : all_(static_cast<std::ptrdiff_t>(count)), reads_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      Read& read = reads_[i];
      read.bytes.resize(bytes_each);
      read.piece = read.bytes;
      read.all = &all_;
      read.file.fd = fd;
      read.file.offset = i * bytes_each;
      read.file.into = Pieces(&read.piece, 1);
      read.file.context = &read;
      read.file.ended = [](FileRead& ended) noexcept {
        auto& self = *static_cast<Read*>(ended.context);
        if (self.calls.fetch_add(1) == 0) self.all->count_down();
      };
    }
  }

  FileRead& operator[](std::size_t i) { return reads_[i].file; }
  std::size_t size() const { return reads_.size(); }
  void start(FileIo& io) {
    for (Read& read : reads_) io.start(read.file);
  }
  void wait() { all_.wait(); }

  void expect(std::string_view content) const {
    for (const Read& read : reads_) {
      EXPECT_EQ(read.calls, 1);
      EXPECT_EQ(read.file.error, 0);
      ASSERT_EQ(as_text(read.bytes), content.substr(read.file.offset, read.bytes.size())) << read.file.offset;
    }
  }

 private:
  struct Read {
    FileRead file;
    std::vector<std::uint8_t> bytes;
    MutableBytes piece;
    std::atomic<int> calls = 0;
    std::latch* all = nullptr;
  };
  std::latch all_;
  std::vector<Read> reads_;
};

/// A kernel from before 6.1, which knows none of the flags that we use.
int setup_without_flags(unsigned entries, io_uring* ring, unsigned flags) {
  return flags == 0 ? UringCalls::real().set_up(entries, ring, 0) : -EINVAL;
}

enum class Kernel { kOld, kNew };

class UringIoReading : public ::testing::TestWithParam<Kernel> {
 protected:
  void SetUp() override {
    if (!UringIo::why_not().empty()) GTEST_SKIP() << UringIo::why_not();
    for (std::size_t i = 0; content_.size() < 600'000; ++i) content_ += std::to_string(i * i) + ",";
    file_ = open_for_reading(AT_FDCWD, folder_.write("f", content_).c_str());
    ::fsync(file_.get());
  }

  std::unique_ptr<UringIo> make_io(UringOptions options = {}) {
    if (GetParam() == Kernel::kOld) options.calls.set_up = setup_without_flags;
    return std::make_unique<UringIo>(std::make_shared<ThreadExecutor>(1), options);
  }
  /// Drops the file from the page cache, so that reads have to wait for the disk.
  void make_cold() { ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED); }

  TempFolder folder_;
  std::string content_;
  FileDescriptor file_;
};

TEST_P(UringIoReading, EndsWithoutEverHavingRead) { EXPECT_EQ(make_io()->name(), "io_uring"); }

TEST_P(UringIoReading, ServesMoreReadsThanTheRingTakes) {
  for (const int depth : {1, 2, 7, 128}) {
    Reads reads(500, 1000, file_.get());
    auto io = make_io({.depth = depth});
    reads.start(*io);
    reads.wait();
    io.reset();
    reads.expect(content_);
  }
}

TEST_P(UringIoReading, GoesOnAfterShortReads) {
  Reads reads(20, 1000, file_.get());
  auto io = make_io({.depth = 4, .submission_bytes = 7});
  reads.start(*io);
  reads.wait();
  io.reset();
  reads.expect(content_);
}

TEST_P(UringIoReading, ReadsMorePiecesThanASubmissionTakes) {
  std::vector<std::uint8_t> bytes(1000);
  std::vector<MutableBytes> into;
  for (std::size_t i = 0; i < bytes.size(); ++i) into.push_back(MutableBytes(bytes).subspan(i, 1));
  into.insert(into.begin() + 500, hole(kHoleReadMax + 1));
  Reads reads(1, 0, file_.get());
  reads[0].into = into;
  auto io = make_io();
  reads.start(*io);
  reads.wait();
  io.reset();
  EXPECT_EQ(reads[0].count, 1000 + kHoleReadMax + 1);
  EXPECT_EQ(as_text(bytes), content_.substr(0, 500) + content_.substr(500 + kHoleReadMax + 1, 500));
}

TEST_P(UringIoReading, TellsErrorsApartFromTheEndOfTheFile) {
  Reads reads(2, 100, file_.get());
  reads[0].offset = content_.size() - 30;
  reads[1].fd = -1;
  auto io = make_io();
  reads.start(*io);
  reads.wait();
  io.reset();
  EXPECT_EQ(reads[0].count, 30u);
  EXPECT_EQ(reads[0].error, 0);
  EXPECT_EQ(reads[1].error, EBADF);
}

TEST_P(UringIoReading, FinishesWhatThreadsStartedThatHaveEnded) {
  for (int round = 0; round < 20; ++round) {
    Reads reads(100, 4096, file_.get());
    auto io = make_io({.depth = 32});
    make_cold();
    std::jthread([&] { reads.start(*io); }).join();
    reads.wait();
    io.reset();
    reads.expect(content_);
  }
}

TEST_P(UringIoReading, StartsReadsFromReadsThatEnd) {
  Reads reads(200, 1000, file_.get());
  struct Chain {
    FileIo* io;
    Reads* reads;
    std::size_t next = 0;
    MutableBytes piece{};
    std::uint8_t byte = 0;
  };
  auto io = make_io({.depth = 1});
  Chain chain{io.get(), &reads};
  chain.piece = MutableBytes(&chain.byte, 1);
  FileRead link;
  link.fd = file_.get();
  link.into = Pieces(&chain.piece, 1);
  link.context = &chain;
  link.ended = [](FileRead& ended) noexcept {
    auto& state = *static_cast<Chain*>(ended.context);
    state.io->start((*state.reads)[state.next]);
    if (++state.next < state.reads->size()) state.io->start(ended);
  };
  io->start(link);
  reads.wait();
  io.reset();
  reads.expect(content_);
}

// Reads of cached bytes have ended as soon as they are submitted: those that wait for the disk must get their turn.
TEST_P(UringIoReading, EndsAColdReadBesideWarmOnes) {
  std::vector<std::uint8_t> warm_byte(1), cold_bytes(4096);
  MutableBytes warm_piece(warm_byte), cold_piece(cold_bytes);
  auto io = make_io();
  struct State {
    FileIo* io;
    std::atomic<bool> cold_ended = false;
    std::latch both{2};
  } state{io.get()};
  FileRead warm, cold;
  warm.fd = cold.fd = file_.get();
  warm.into = Pieces(&warm_piece, 1);
  cold.into = Pieces(&cold_piece, 1);
  cold.offset = 256 << 10;
  warm.context = cold.context = &state;
  cold.ended = [](FileRead& ended) noexcept {
    auto& self = *static_cast<State*>(ended.context);
    self.cold_ended = true;
    self.both.count_down();
  };
  warm.ended = [](FileRead& ended) noexcept {
    auto& self = *static_cast<State*>(ended.context);
    if (self.cold_ended) return self.both.count_down();
    self.io->start(ended);
  };
  make_cold();
  io->start(warm);
  io->start(cold);
  state.both.wait();
  EXPECT_EQ(as_text(cold_bytes), content_.substr(cold.offset, cold_bytes.size()));
}

std::atomic<int> g_submissions = 0;

int submit_after_a_while(io_uring* ring) {
  constexpr std::array kRefusals = {-EAGAIN, -EINTR, -EBUSY};
  const auto number = static_cast<std::size_t>(g_submissions++);
  return number % 4 < kRefusals.size() ? kRefusals[number % 4] : io_uring_submit(ring);
}

int submit_but_once(io_uring* ring) { return g_submissions++ == 3 ? -EACCES : io_uring_submit(ring); }

TEST_P(UringIoReading, AsksAgainWhenTheKernelIsBusy) {
  UringCalls calls = UringCalls::real();
  calls.submit = submit_after_a_while;
  g_submissions = 0;
  Reads reads(50, 1000, file_.get());
  auto io = make_io({.depth = 3, .calls = calls});
  reads.start(*io);
  reads.wait();
  io.reset();
  reads.expect(content_);
  EXPECT_GT(g_submissions, 50);
}

TEST_P(UringIoReading, FailsAllReadsOnceTheKernelTakesNoMore) {
  UringCalls calls = UringCalls::real();
  calls.submit = submit_but_once;
  g_submissions = 0;
  Reads reads(50, 1000, file_.get());
  auto io = make_io({.depth = 3, .calls = calls});
  reads.start(*io);
  reads.wait();
  io.reset();
  int refused = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) refused += reads[i].error == EACCES;
  EXPECT_GE(refused, 50 - 3 * 3) << "all but those that came before it";
  EXPECT_LE(refused, 50);
}

int submit_never(io_uring*) { return -EAGAIN; }

TEST_P(UringIoReading, DoesNotAskForEver) {
  for (const auto submit : {submit_never, forbidden_submit}) {
    UringCalls calls = UringCalls::real();
    calls.submit = submit;
    const std::chrono::milliseconds patience{20};
    EXPECT_EQ(make_io({.patience = patience, .calls = calls})->name(), "io_uring")
        << "and it ends, having read nothing";
    Reads reads(50, 1000, file_.get());
    auto io = make_io({.depth = 3, .patience = patience, .calls = calls});
    reads.start(*io);
    reads.wait();
    io.reset();
    for (std::size_t i = 0; i < reads.size(); ++i) EXPECT_EQ(reads[i].error, submit == submit_never ? EAGAIN : EACCES);
  }
}

TEST_P(UringIoReading, NoticesWhenOnlySubmittingIsForbidden) {
  UringCalls calls = UringCalls::real();
  calls.submit = forbidden_submit;
  EXPECT_THAT(UringIo::why_not(calls), AllOf(HasSubstr("io_uring_enter"), HasSubstr("Permission denied")));
}

TEST_P(UringIoReading, ReadsOnTheCallingThreadInAForkedChild) {
  Reads before(100, 1000, file_.get());
  auto io = std::make_unique<UringIo>(make_shared_at_home<ThreadExecutor>(1), UringOptions{.depth = 8});
  before.start(*io);
  EXPECT_EQ(status_in_child([&] {
              Reads reads(3, 1000, file_.get());
              reads.start(*io);
              reads.wait();
              for (std::size_t i = 0; i < reads.size(); ++i) {
                if (reads[i].error != 0 || reads[i].count != 1000) return 1;
              }
              io.reset();
              return 0;
            }),
            0);
  before.wait();
  io.reset();
  before.expect(content_);
}

INSTANTIATE_TEST_SUITE_P(OnKernels, UringIoReading, ::testing::Values(Kernel::kOld, Kernel::kNew),
                         [](const auto& kernel) { return kernel.param == Kernel::kOld ? "Old" : "New"; });

}  // namespace
}  // namespace stoker
