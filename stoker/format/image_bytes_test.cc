#include "stoker/format/image_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

TEST(ImageBytes, PnmsAreToldByTheirWholeHeaders) {
  EXPECT_EQ(extension_of_bytes(as_bytes("P6\n640 480\n255\n\x12\x34"sv)), "pnm");
  const std::string comment = "P5\n# Created by GIMP version 2.10.36 PNM plug-in\n640 480\n255\n";
  EXPECT_EQ(extension_of_bytes(as_bytes(comment).first(std::min(kImageBeginningBytes, comment.size()))), "pnm");
  EXPECT_EQ(extension_of_bytes(as_bytes("P2 3 4 people")), "");
  EXPECT_EQ(extension_of_bytes(as_bytes("P1\n# Projects of the first priority\n")), "");
}

TEST(ImageBytes, EachExtensionOfMessagesIsThatOfAnImage) {
  std::size_t begin = 0, count = 0;
  for (; begin < kImageExtensions.size(); ++count) {
    const std::size_t end = std::min(kImageExtensions.find(", ", begin), kImageExtensions.size());
    EXPECT_TRUE(is_image_field_name(kImageExtensions.substr(begin, end - begin))) << begin;
    begin = end + 2;
  }
  EXPECT_GT(count, 15u);
  for (const char* name : {"ppm", "x.PGM", "pbm", "pnm", "jpx", "jpf", "J2C", "x.jpc"})
    EXPECT_TRUE(is_image_field_name(name)) << name;
  EXPECT_FALSE(is_image_field_name("tga"));
}

}  // namespace
}  // namespace stoker
