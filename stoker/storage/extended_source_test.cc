#include "stoker/storage/extended_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/base/error_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

std::string read_text(Source& source, std::uint64_t offset, std::size_t length) {
  std::string text(length, '?');
  read_fully(source, offset, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return text;
}

TEST(ExtendedSource, ReadsTheObjectAndWhatFollowsIt) {
  const Bytes object = as_bytes("object");
  ExtendedSource source(std::make_shared<MemorySource>("name", std::vector(object.begin(), object.end())));
  const std::uint64_t first = source.append(as_bytes("one")), second = source.append(as_bytes("two"));
  EXPECT_EQ(source.size(), 6u);
  EXPECT_EQ(read_text(source, 1, 4), "bjec");
  EXPECT_EQ(read_text(source, first, 3), "one");
  EXPECT_EQ(read_text(source, second + 1, 2), "wo");
  EXPECT_EQ(read_text(source, first, 6), "onetwo");
}

TEST(ExtendedSource, NamesReadsThatLeaveEitherPart) {
  ExtendedSource source(std::make_shared<MemorySource>("name", std::vector<std::uint8_t>(6)));
  const std::uint64_t first = source.append(as_bytes("one"));
  for (const std::uint64_t offset : {std::uint64_t{4}, std::uint64_t{6}, first - 1, first + 1, ~std::uint64_t{0} - 4}) {
    const Error error = error_of([&] { read_text(source, offset, 3); });
    EXPECT_EQ(error.kind(), ErrorKind::kData) << offset;
    EXPECT_THAT(error.message(), HasSubstr("'name'"));
  }
}

}  // namespace
}  // namespace stoker
