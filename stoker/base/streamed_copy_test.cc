#include "stoker/base/streamed_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stoker {
namespace {

std::vector<std::uint8_t> counted(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i % 251 + 1);
  return bytes;
}

TEST(StreamedCopy, IsACopyWhereverItBeginsAndEnds) {
  const std::vector<std::uint8_t> source = counted(3 * 4096);
  for (std::size_t from = 0; from < 70; from += 23) {
    for (std::size_t to = 0; to < 70; ++to) {
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096},
                                     std::size_t{4097}, 4096 + to, 2 * 4096 + 63 - from / 2}) {
        std::vector<std::uint8_t> expected(source.size() + 100), copied(source.size() + 100);
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), size,
                    expected.begin() + static_cast<std::ptrdiff_t>(to));
        streamed_copy(Bytes(source).subspan(from, size), copied.data() + to);
        ASSERT_EQ(copied, expected) << size << " bytes from " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace stoker
