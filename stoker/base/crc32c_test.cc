#include "stoker/base/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace stoker {
namespace {

// The test vectors of RFC 3720, appendix B.4.
TEST(Crc32c, GivesThePublishedValues) {
  std::vector<std::uint8_t> bytes(32, 0);
  EXPECT_EQ(crc32c(bytes), 0x8a9136aau);
  bytes.assign(32, 0xff);
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43u);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  EXPECT_EQ(crc32c(bytes), 0x46dd794eu);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const std::string_view text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(as_bytes(text.substr(cut)), crc32c(as_bytes(text.substr(0, cut)))), crc32c(as_bytes(text)));
  }
}

}  // namespace
}  // namespace stoker
