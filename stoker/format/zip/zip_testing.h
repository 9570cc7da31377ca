// Zip files made byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

/// A member as the test wants it; numbers that are not set are what they should be.
struct TestZipMember {
  std::string name;
  std::string content{};
  bool deflate = false;  // stored as deflate's blocks of plain bytes
  bool descriptor = false;
  bool zip64 = false;
  std::uint16_t flags = 0;
  int method = -1;
  std::int64_t length = -1;  // in the header and the directory
  std::int64_t crc32 = -1;   // the same
  std::uint32_t unix_mode = 0;
  std::string comment{};
};

struct TestZip {
  std::vector<TestZipMember> members{};
  std::string comment{};
  std::string prefix{};  // before the archive
  bool zip64 = false;

  std::string bytes() const;
};

}  // namespace stoker
