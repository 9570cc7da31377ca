#include "stoker/storage/arranged_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/pending.h"
#include "stoker/storage/arranged_testing.h"
#include "stoker/storage/faulty_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::uint8_t> counted(std::size_t bytes) {
  std::vector<std::uint8_t> content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::uint8_t>(i % 251);
  return content;
}

/// Remembers what it was asked for.
class AskedSource final : public Source {
 public:
  explicit AskedSource(std::shared_ptr<Source> inner) : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  std::uint64_t size(std::string_view part) const override { return inner_->size(part); }
  void start(ReadRequest& request) override {
    reads.emplace_back(request.offset, request.length());
    inner_->start(request);
  }
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view /*part*/) override {
    hints.emplace_back(offset, length);
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> reads, hints;

 private:
  std::shared_ptr<Source> inner_;
};

std::shared_ptr<StretchOrder> arranged(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& stretches) {
  auto made = std::make_shared<StretchOrder>();
  for (const auto& [offset, length] : stretches) made->add(offset, length);
  return made;
}

TEST(ArrangedSource, ReadsEachStretchOnceAndNoneThatIsAHole) {
  const std::vector<std::uint8_t> content = counted(100);
  const auto object = std::make_shared<AskedSource>(std::make_shared<MemorySource>("corpus.bin", content));
  ArrangedSource source(object, arranged({{80, 10}, {0, 20}, {50, 5}, {30, 1}}));
  EXPECT_EQ(source.size(), 36u);
  std::vector<std::uint8_t> begin(3), end(4);
  const std::vector<MutableBytes> pieces = {begin, hole(25), MutableBytes(end)};
  ReadRequest request;
  request.offset = 4;
  request.into = pieces;
  Pending reads;
  start_pending(source, request, reads);
  reads.wait();
  EXPECT_FALSE(request.error);
  EXPECT_THAT(begin, ElementsAre(84, 85, 86));
  EXPECT_THAT(end, ElementsAre(52, 53, 54, 30));
  EXPECT_THAT(object->reads, ElementsAre(Pair(84, 6), Pair(50, 5), Pair(30, 1))) << "without the second stretch";
  source.will_need(8, 23);
  EXPECT_THAT(object->hints, ElementsAre(Pair(88, 2), Pair(0, 20), Pair(50, 1)));
}

TEST(ArrangedSource, EndsWhenItsLastReadEndsAndTellsTheFirstErrorInOrder) {
  for (const bool fails : {false, true}) {
    const std::vector<std::uint8_t> content = counted(100);
    FaultyOptions faults{.hold = true};
    if (fails) faults.fail_reads = {1, 2};
    const auto object = std::make_shared<FaultySource>(std::make_shared<MemorySource>("corpus.bin", content), faults);
    ArrangedSource source(object, arranged({{70, 10}, {10, 10}, {40, 10}}));
    std::vector<std::uint8_t> bytes(30);
    MutableBytes piece = bytes;
    bool is_over = false;
    ReadRequest request;
    request.into = Pieces(&piece, 1);
    request.context = &is_over;
    request.done = [](ReadRequest& ended) noexcept { *static_cast<bool*>(ended.context) = true; };
    source.start(request);
    object->wait_until_held(3);
    object->release(2);
    object->release(0);
    EXPECT_FALSE(is_over);
    object->release(0);
    EXPECT_TRUE(is_over);
    if (fails) {
      EXPECT_THAT(error_of([&] { std::rethrow_exception(request.error); }).message(), HasSubstr("corpus.bin"));
      continue;
    }
    EXPECT_FALSE(request.error);
    for (std::size_t i = 0; i < 30; ++i)
      EXPECT_EQ(bytes[i], std::vector({70, 10, 40})[i / 10] + static_cast<int>(i % 10));
  }
}

TEST(ArrangedSource, AReadPastItsEndIsRefused) {
  ArrangedSource source(std::make_shared<MemorySource>("corpus.bin", counted(100)), arranged({{80, 10}, {0, 20}}));
  std::vector<std::uint8_t> bytes(3);
  const Error error = error_of([&] { read_fully(source, 28, bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), HasSubstr("corpus.bin"));
  EXPECT_NO_THROW(read_fully(source, 27, bytes));
  EXPECT_NO_THROW(read_fully(source, 30, {}));
  EXPECT_EQ(error_of([&] { read_fully(source, 0, bytes, "part"); }).kind(), ErrorKind::kNotFound);
}

TEST(ArrangedSource, AnotherObjectMayStandInForItsOwn) {
  const TornContent torn(counted(5000), 300, 1);
  const ArrangedSource source(torn.object(), torn.order);
  MemorySource other("copy", torn.bytes);
  const std::unique_ptr<Source> copy = source.over([&](Source& /*object*/) -> Source& { return other; });
  std::vector<std::uint8_t> bytes(5000);
  read_fully(*copy, 0, bytes);
  EXPECT_EQ(bytes, counted(5000));
  EXPECT_EQ(copy->name(), "copy");
}

}  // namespace
}  // namespace stoker
