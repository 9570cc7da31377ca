#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "stoker/storage/faulty_preadv_testing.h"
#include "stoker/storage/posix_file.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using Kind = PreadvFaults::Kind;

/// What calls for ten bytes return, errors as negated errno.
std::vector<ssize_t> results(const PreadvFaults& faults, int calls) {
  const TempFolder folder;
  const FileDescriptor file = open_for_reading(AT_FDCWD, folder.write("f", "0123456789").c_str());
  set_preadv_faults(faults);
  std::vector<ssize_t> results;
  for (int i = 0; i < calls; ++i) {
    char bytes[10];
    const iovec into{bytes, sizeof bytes};
    const ssize_t got = faulty_preadv(file.get(), &into, 1, 0);
    results.push_back(got < 0 ? -errno : got);
  }
  EXPECT_EQ(preadv_calls(), calls);
  set_preadv_faults({});
  return results;
}

TEST(FaultyPreadv, FailsTheCallItWasToldToOrAllFromThereOn) {
  using Results = std::vector<ssize_t>;
  EXPECT_EQ(results({}, 2), (Results{10, 10}));
  EXPECT_EQ(results({.kind = Kind::kError, .number = 1}, 3), (Results{10, -EIO, 10}));
  EXPECT_EQ(results({.kind = Kind::kInterrupted, .number = 1, .for_good = true}, 3), (Results{10, -EINTR, -EINTR}));
  EXPECT_EQ(results({.kind = Kind::kShort, .number = 1}, 3), (Results{10, 5, 10}));
  EXPECT_EQ(results({.kind = Kind::kEnd, .number = 1}, 3), (Results{10, 0, 10}));
}

TEST(FaultyPreadv, FailsByChanceTheSameWayForTheSameSeed) {
  const PreadvFaults often{.error_probability = 0.1, .short_probability = 0.1, .seed = 4};
  const std::vector<ssize_t> first = results(often, 1000);
  EXPECT_EQ(results(often, 1000), first);
  for (const ssize_t fault : {ssize_t{-EIO}, ssize_t{5}}) {
    const auto count = std::count(first.begin(), first.end(), fault);
    EXPECT_GT(count, 50) << fault;
    EXPECT_LT(count, 150) << fault;
  }
}

}  // namespace
}  // namespace stoker
