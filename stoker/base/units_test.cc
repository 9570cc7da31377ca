#include "stoker/base/units.h"

#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

TEST(Units, ParseSizesAsPeopleWriteThem) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("20MB"), 20'000'000u);
  EXPECT_EQ(parse_size("512MiB"), 512u << 20);
  EXPECT_EQ(parse_size("1.5 GiB"), 3u << 29);
  EXPECT_EQ(parse_size("7KiB"), 7168u);
  EXPECT_EQ(parse_size("2KB"), 2000u);
  EXPECT_EQ(parse_size("3TB"), 3'000'000'000'000u);
  EXPECT_EQ(parse_size("1TiB"), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_size("9GB"), 9'000'000'000u);
  EXPECT_EQ(parse_size("5B"), 5u);
  EXPECT_EQ(parse_size("0"), 0u);
}

TEST(Units, RefuseWhatIsNoSize) {
  for (const char* text : {"", "MB", "12 parsecs", "-1", "1e99GB", "nan", "1 MB x", "5mb"})
    EXPECT_THROW(parse_size(text), Error) << text;
}

TEST(Units, FormatWithThreeDigits) {
  EXPECT_EQ(format_size(87), "87 B");
  EXPECT_EQ(format_size(999.6), "1.00 KB");
  EXPECT_EQ(format_size(110'234), "110 KB");
  EXPECT_EQ(format_size(3.214e9), "3.21 GB");
  EXPECT_EQ(format_size(12.34e6), "12.3 MB");
  EXPECT_EQ(format_duration(0.25), "0.2 s");
  EXPECT_EQ(format_duration(12.4), "12 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(3599), "59 min 59 s");
  EXPECT_EQ(format_duration(3600), "1 h 00 min");
  EXPECT_EQ(format_duration(3840), "1 h 04 min");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1281167), "1,281,167");
  EXPECT_EQ(counted(0, "shard"), "0 shards");
  EXPECT_EQ(counted(1, "shard"), "1 shard");
  EXPECT_EQ(counted(std::size_t{1281167}, "class"), "1,281,167 classes");
  EXPECT_EQ(counted(2, "batch"), "2 batches");
  EXPECT_EQ(byte_count(1), "1 byte");
  EXPECT_EQ(byte_count(12'345), "12345 bytes");
}

TEST(Spelling, FindsTheNearestName) {
  EXPECT_EQ(nearest_name("resise", {"decode", "resize", "flip"}), "resize");
  EXPECT_EQ(nearest_name("zzz", {"decode", "resize"}), "");
  EXPECT_EQ(did_you_mean("flop", {"flip"}), " (did you mean 'flip'?)");
  EXPECT_EQ(did_you_mean("banana", {"flip"}), "");
  EXPECT_EQ(nearest_name("flip", {"crop"}), "") << "three changes in four letters are too many";
}

TEST(Error, CarriesKindSentenceAndContext) {
  const Error error = Error(ErrorKind::kBadSample, "no end marker").with_context("a.tar, sample 'x'");
  EXPECT_STREQ(error.what(), "a.tar, sample 'x': no end marker");
  EXPECT_EQ(to_string(error.kind()), "bad_sample");
}

}  // namespace
}  // namespace stoker
