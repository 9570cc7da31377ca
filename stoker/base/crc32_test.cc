#include "stoker/base/crc32.h"

#include <gtest/gtest.h>

#include <string_view>

namespace stoker {
namespace {

TEST(Crc32, IsThatOfZip) {
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926u);  // the check value that catalogues of checksums give
}

TEST(Crc32, GoesOnFromWhatCameBefore) {
  constexpr std::string_view kText =
      "a text that is long enough for all ways of computing it, in two parts of any length";
  for (std::size_t first = 0; first <= kText.size(); ++first) {
    EXPECT_EQ(crc32(as_bytes(kText.substr(first)), crc32(as_bytes(kText.substr(0, first)))), crc32(as_bytes(kText)));
  }
}

}  // namespace
}  // namespace stoker
