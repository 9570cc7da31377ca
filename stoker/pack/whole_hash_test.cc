#include "stoker/pack/whole_hash.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

/// Asks its reader to stop, at the second read.
class StoppingSource final : public Source {
 public:
  explicit StoppingSource(std::vector<std::uint8_t> bytes) : bytes_("bytes", std::move(bytes)) {}

  const std::string& name() const override { return bytes_.name(); }
  std::uint64_t size(std::string_view part) const override { return bytes_.size(part); }
  void start(ReadRequest& request) override {
    if (++reads_ == 2) stop_.request_stop();
    bytes_.start(request);
  }
  std::stop_token stop() const { return stop_.get_token(); }
  int reads() const { return reads_; }

 private:
  MemorySource bytes_;
  std::stop_source stop_;
  int reads_ = 0;
};

std::vector<std::uint8_t> some_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 2654435761u >> 24);
  return bytes;
}

TEST(WholeHash, IsThatOfTheBytesUpToTheOneAskedFor) {
  const std::vector<std::uint8_t> bytes = some_bytes((std::size_t{2} << 20) + 5);
  MemorySource source("bytes", bytes);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, bytes.size()}) {
    EXPECT_EQ(whole_hash(source, count, {}), hash64(as_text(Bytes(bytes).first(count)))) << count;
  }
}

TEST(WholeHash, StopsBetweenTwoReads) {
  StoppingSource source(some_bytes(std::size_t{5} << 20));
  EXPECT_EQ(error_of([&] { whole_hash(source, source.size({}), source.stop()); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(source.reads(), 2);
}

}  // namespace
}  // namespace stoker
