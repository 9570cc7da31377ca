// The end of an object, fetched once.
#include "stoker/storage/kept_end.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

std::vector<std::uint8_t> counted_bytes(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

/// Counts reads, and fails them if it is to.
class CountedSource final : public Source {
 public:
  CountedSource(std::vector<std::uint8_t> bytes, bool is_remote)
      : inner_("memory.tar", std::move(bytes)), is_remote_(is_remote) {}

  const std::string& name() const override { return inner_.name(); }
  std::uint64_t size(std::string_view part) const override { return inner_.size(part); }
  void start(ReadRequest& request) override {
    ++reads;
    if (!fails) return inner_.start(request);
    request.error = std::make_exception_ptr(Error(ErrorKind::kIo, "not now"));
    request.done(request);
  }
  bool is_remote() const override { return is_remote_; }

  int reads = 0;
  bool fails = false;

 private:
  MemorySource inner_;
  const bool is_remote_;
};

constexpr std::size_t kSize = 200'000;

void expect_bytes(const KeptEnd& end, std::uint64_t offset, std::size_t length) {
  std::vector<std::uint8_t> read(length);
  end.read(offset, read);
  const std::vector<std::uint8_t> all = counted_bytes(kSize);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), all.begin() + static_cast<std::ptrdiff_t>(offset)));
}

TEST(KeptEnd, IsReadFromARemoteSourceOnce) {
  const auto source = std::make_shared<CountedSource>(counted_bytes(kSize), true);
  KeptEnd end(source);
  expect_bytes(end, kSize - 10, 10);
  EXPECT_EQ(source->reads, 1) << "nothing was fetched yet";
  end.fetch();
  EXPECT_EQ(source->reads, 2);
  const std::uint64_t begin = kSize - KeptEnd::kBytes;
  expect_bytes(end, kSize - 10, 10);
  expect_bytes(end, begin, 100);
  expect_bytes(KeptEnd(end), begin, KeptEnd::kBytes);
  EXPECT_EQ(source->reads, 2);
  expect_bytes(end, begin - 1, 2);
  expect_bytes(end, 0, 5);
  EXPECT_EQ(source->reads, 4) << "what lies before it";
  EXPECT_FALSE(end.keeps(kSize - 10, 11));
  EXPECT_FALSE(end.keeps(kSize + 1, 0));
  std::vector<std::uint8_t> beyond(11);
  EXPECT_EQ(error_of([&] { end.read(kSize - 10, beyond); }).kind(), ErrorKind::kData);
}

TEST(KeptEnd, IsTheWholeOfAShortObject) {
  const auto source = std::make_shared<CountedSource>(counted_bytes(7), true);
  KeptEnd end(source);
  end.fetch();
  EXPECT_TRUE(end.keeps(0, 7));
  EXPECT_FALSE(end.keeps(0, 8));
}

TEST(KeptEnd, KeepsNothingOfLocalFiles) {
  const auto source = std::make_shared<CountedSource>(counted_bytes(kSize), false);
  KeptEnd end(source);
  end.fetch();
  EXPECT_EQ(source->reads, 0);
  expect_bytes(end, kSize - 10, 10);
  EXPECT_EQ(source->reads, 1);
}

TEST(KeptEnd, ThatCannotBeFetchedIsReadWhereItIsWanted) {
  const auto source = std::make_shared<CountedSource>(counted_bytes(kSize), true);
  KeptEnd end(source);
  source->fails = true;
  end.fetch();
  std::vector<std::uint8_t> into(5);
  EXPECT_EQ(error_of([&] { end.read(kSize - 5, into); }).kind(), ErrorKind::kIo);
  source->fails = false;
  expect_bytes(end, kSize - 5, 5);
}

}  // namespace
}  // namespace stoker
