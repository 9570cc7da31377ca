#include "stoker/storage/packed_integers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/storage/packed_integers_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_view_literals;

std::vector<std::uint32_t> runs_of(std::string_view bytes, std::uint32_t bits, std::size_t count) {
  RunLengthReader reader(as_bytes(bytes), bits);
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(reader.next());
  return values;
}

std::vector<std::int64_t> deltas_of(std::string_view bytes) {
  DeltaReader reader(as_bytes(bytes));
  std::vector<std::int64_t> values;
  while (values.size() < reader.count()) values.push_back(reader.next());
  EXPECT_EQ(reader.end(), bytes.size());
  return values;
}

TEST(RunLengthReader, ReadsRunsAndGroups) {
  // The example of the format's documents: 0 to 7 in groups of three bits.
  EXPECT_THAT(runs_of("\x03\x88\xc6\xfa"sv, 3, 8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(runs_of("\x06\x05\x03\x88\xc6\xfa\x02\x01"sv, 3, 12), ElementsAre(5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7, 1));
  EXPECT_THAT(runs_of("\x04\x34\x12"sv, 13, 2), ElementsAre(0x1234, 0x1234));
  EXPECT_THAT(runs_of("\x00\x01\x04"sv, 0, 2), ElementsAre(0, 0)) << "none, then groups of no bits, a run of none";
  EXPECT_THAT(runs_of("\x03\x88\xc6"sv, 3, 5), ElementsAre(0, 1, 2, 3, 4)) << "the last group cut off";
}

TEST(RunLengthReader, PassesOverEqualValues) {
  for (const std::uint32_t bits : {1U, 2U, 3U, 17U}) {
    std::vector<std::uint32_t> values;
    Random random(bits, 0, 0, 0);
    while (values.size() < 2000) {
      const auto value = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << bits));
      values.insert(values.end(), random.below(4) == 0 ? random.below(100) + 1 : random.below(3) + 1, value);
    }
    values.resize(2000);
    const std::string bytes = run_length_packed(values, bits);
    RunLengthReader reader(as_bytes(bytes), bits);
    for (std::size_t at = 0; at < values.size();) {
      const std::uint32_t other = values[at] ^ 1;
      EXPECT_EQ(reader.pass_equal(other, values.size() - at), 0u) << at;
      std::size_t end = at;
      while (end < values.size() && values[end] == values[at]) ++end;
      const std::size_t most = 1 + random.below(2 * (end - at));
      const std::uint64_t passed = reader.pass_equal(values[at], std::min(most, values.size() - at));
      ASSERT_EQ(passed, std::min(most, end - at)) << at << " of " << bits << " bits";
      at += passed;
      if (at == values.size() || random.below(2) == 0) continue;
      ASSERT_EQ(reader.next(), values[at++]);
    }
    EXPECT_EQ(reader.pass_equal(0, 0), 0u);
  }
  RunLengthReader reader(as_bytes("\x02\x01"sv), 1);
  EXPECT_THAT(error_of([&] { reader.pass_equal(1, 2); }).message(), HasSubstr("ends before"));
}

TEST(RunLengthReader, SaysWhereItEnds) {
  for (const std::string_view bytes : {""sv, "\x03"sv, "\x02"sv, "\x00\x00"sv, "\x80"sv}) {
    EXPECT_THAT(error_of([&] { runs_of(bytes, 3, 1); }).message(), HasSubstr("ends before")) << bytes.size();
  }
  EXPECT_THAT(error_of([&] { runs_of("\x03\x88\xc6\xfa"sv, 3, 9); }).message(), HasSubstr("ends before"));
  EXPECT_THAT(error_of([&] { runs_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"sv, 3, 1); }).message(),
              HasSubstr("64 bits"));
  const std::string_view long_group =
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "a"sv;
  EXPECT_THAT(runs_of(long_group, 4, 2), ElementsAre(1, 6)) << "as many groups as there are bytes";
  EXPECT_THAT(error_of([&] { runs_of(long_group, 4, 3); }).message(), HasSubstr("ends before"));
}

TEST(DeltaReader, ReadsWhatTheDocumentsShow) {
  // 1 to 5: no bits are needed above the least difference, 1. And an uneven row: 7, 5, 3, 1, 2, 3, 4, 5.
  EXPECT_THAT(deltas_of("\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00"sv), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(deltas_of("\x80\x01\x04\x08\x0e\x03\x02\x00\x00\x00\xc0\x3f\x00\x00\x00\x00\x00\x00"sv),
              ElementsAre(7, 5, 3, 1, 2, 3, 4, 5));
}

TEST(DeltaReader, ReadsNumbersOfAnySize) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max(), kLeast = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> values = {0, kMost, kLeast, -1, kMost, 5};
  for (int i = 0; i < 700; ++i) values.push_back(i * i % 97 - (i % 3 == 0 ? 1000000 : 0));
  EXPECT_EQ(deltas_of(delta_packed(values)), values);
  EXPECT_THAT(deltas_of(delta_packed({})), ElementsAre());
  EXPECT_THAT(deltas_of(delta_packed({-3})), ElementsAre(-3));
}

TEST(DeltaReader, RefusesDimensionsThatCannotBe) {
  for (const std::string_view bytes : {"\x00\x04\x05\x02"sv, "\x80\x01\x00\x05\x02"sv, "\x80\x01\x03\x05\x02"sv,
                                       "\x04\x04\x05\x02"sv, "\xff\xff\xff\xff\x0f\x01\x05\x02"sv}) {
    EXPECT_EQ(error_of([&] { deltas_of(bytes); }).kind(), ErrorKind::kData);
  }
  EXPECT_THAT(error_of([] { deltas_of("\x80\x01\x04\x05\x02\x02\x41\x00\x00\x00"sv); }).message(),
              HasSubstr("65 bits"));
}

TEST(DeltaReader, SaysWhereItEnds) {
  std::vector<std::int64_t> values;
  for (int i = 0; i < 200; ++i) values.push_back(i * i * 31 % 1009);
  const std::string bytes = delta_packed(values);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto fault = fault_of_data([&] {
      DeltaReader reader(as_bytes(std::string_view(bytes).substr(0, length)));
      for (std::uint64_t i = 0; i < reader.count(); ++i) reader.next();
    });
    // The last part has room for more values than there are.
    EXPECT_TRUE(fault || length > bytes.size() - 40) << length;
  }
}

}  // namespace
}  // namespace stoker
