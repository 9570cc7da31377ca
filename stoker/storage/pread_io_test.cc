#include "stoker/storage/pread_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "stoker/storage/posix_file.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

// preadv as the kernel may behave: interrupted, then a few bytes at a time.
int g_calls = 0;
ssize_t reluctant_preadv(int fd, const iovec* entries, int count, off_t offset) {
  if (g_calls++ % 3 == 1) {
    errno = EINTR;
    return -1;
  }
  iovec first = entries[0];
  EXPECT_GT(count, 0);
  first.iov_len = std::min<std::size_t>(first.iov_len, 7);
  return ::preadv(fd, &first, 1, offset);
}

ssize_t failing_preadv(int, const iovec*, int, off_t) {
  errno = EIO;
  return -1;
}

class ReadByPreadv : public ::testing::Test {
 protected:
  ReadByPreadv() {
    for (int i = 0; i < 20'000; ++i) content_ += static_cast<char>('a' + i % 23);
    file_ = open_for_reading(AT_FDCWD, folder_.write("f", content_).c_str());
  }

  FileRead read(std::uint64_t offset, Pieces into, PreadvFunction preadv_once = ::preadv) {
    FileRead read;
    read.fd = file_.get();
    read.offset = offset;
    read.into = into;
    g_calls = 0;
    read_by_preadv(read, preadv_once);
    return read;
  }

  TempFolder folder_;
  std::string content_;
  FileDescriptor file_;
};

TEST_F(ReadByPreadv, GoesOnAfterInterruptedAndShortReads) {
  std::vector<std::uint8_t> a(100), b(50);
  const MutableBytes into[] = {a, hole(10), b};
  const FileRead result = read(5, into, reluctant_preadv);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.count, 160u);
  EXPECT_EQ(as_text(a), content_.substr(5, 100));
  EXPECT_EQ(as_text(b), content_.substr(115, 50));
  EXPECT_GT(g_calls, 160 / 7);
}

TEST_F(ReadByPreadv, ReadsMorePiecesThanTheKernelTakesAtOnce) {
  std::vector<std::uint8_t> bytes(5000);
  std::vector<MutableBytes> into;
  for (std::size_t i = 0; i < bytes.size(); ++i) into.push_back(MutableBytes(bytes).subspan(i, 1));
  EXPECT_EQ(read(3, into).count, 5000u);
  EXPECT_EQ(as_text(bytes), content_.substr(3, 5000));
}

TEST_F(ReadByPreadv, PassesOverLongHolesWithoutReadingThem) {
  std::vector<std::uint8_t> a(10), b(10);
  const MutableBytes into[] = {a, hole(kHoleReadMax + 1), b, hole(1'000'000)};
  const FileRead result = read(0, into, reluctant_preadv);
  EXPECT_EQ(result.count, length_of(into));
  EXPECT_EQ(as_text(b), content_.substr(10 + kHoleReadMax + 1, 10));
  EXPECT_LT(g_calls, 10);
}

TEST_F(ReadByPreadv, TellsErrorsApartFromTheEndOfTheFile) {
  std::vector<std::uint8_t> bytes(100);
  const MutableBytes into[] = {bytes};
  EXPECT_EQ(read(19'990, into).count, 10u);
  EXPECT_EQ(read(19'990, into).error, 0);
  EXPECT_EQ(read(~std::uint64_t{0} - 50, into).count, 0u) << "beyond what any file has";
  EXPECT_EQ(read(0, into, failing_preadv).error, EIO);
}

TEST_F(ReadByPreadv, StopsWhenItHasEnoughAndWhereADirectReadMustHaveMetTheEnd) {
  std::vector<std::uint8_t> bytes(100);
  const MutableBytes into[] = {bytes};
  FileRead few;
  few.fd = file_.get();
  few.into = into;
  few.enough = 10;
  g_calls = 0;
  read_by_preadv(few, reluctant_preadv);
  EXPECT_EQ(few.count, 14u);
  few.enough = 1000;
  few.alignment = 8;
  g_calls = 0;
  read_by_preadv(few, reluctant_preadv);
  EXPECT_EQ(few.count, 7u);
}

TEST(PreadIo, ReadsInTurnWhatAnEndedReadStarts) {
  TempFolder folder;
  const FileDescriptor file = open_for_reading(AT_FDCWD, folder.write("f", "12345").c_str());
  struct Chain {
    PreadIo io{std::make_shared<InlineExecutor>()};
    std::uint8_t byte = 0;
    MutableBytes into{&byte, 1};
    int left = 100'000;  // deep enough to overflow a stack if one read ran inside another
    bool inside = false;
  } chain;
  FileRead read;
  read.fd = file.get();
  read.into = Pieces(&chain.into, 1);
  read.context = &chain;
  read.ended = [](FileRead& ended) noexcept {
    auto& state = *static_cast<Chain*>(ended.context);
    EXPECT_FALSE(state.inside);
    state.inside = true;
    if (--state.left > 0) state.io.start(ended);
    state.inside = false;
  };
  chain.io.start(read);
  EXPECT_EQ(chain.left, 0);
}

}  // namespace
}  // namespace stoker
