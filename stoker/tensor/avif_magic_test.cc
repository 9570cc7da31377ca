#include "stoker/tensor/avif_magic.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace stoker {
namespace {

using namespace std::string_view_literals;

/// With the version that stands after the first brand.
std::string brands_box(std::string_view brands, std::size_t length) {
  std::string box(3, '\0');
  box += static_cast<char>(length);
  box += "ftyp";
  return box.append(brands);
}

TEST(AvifMagic, IsAnyOfTheBrandsWithinTheirBox) {
  const auto is_avif = [](std::string_view brands, std::size_t length) {
    return has_avif_magic(as_bytes(brands_box(brands, length)));
  };
  EXPECT_TRUE(is_avif("avif", 28));
  EXPECT_TRUE(is_avif("avis\0\0\0\0"sv, 16));
  EXPECT_TRUE(is_avif("mif1\0\0\0\0mif1miafavif"sv, 28));
  EXPECT_TRUE(is_avif("msf1\0\0\0\0avis"sv, 20));
  EXPECT_FALSE(is_avif("mif1\0\0\0\0mif1heic"sv, 24));
  EXPECT_FALSE(is_avif("mif1avifmif1"sv, 20)) << "a version";
  EXPECT_FALSE(is_avif("mif1\0\0\0\0mif1avif"sv, 20)) << "another box";
  EXPECT_FALSE(is_avif("mif1\0\0\0\0mif1avif"sv, 23));
  EXPECT_FALSE(is_avif("mif1\0\0\0\0mif1avi"sv, 24)) << "cut";
  EXPECT_FALSE(is_avif("mif1\0\0\0\0miavifaa"sv, 24)) << "between two";
  EXPECT_FALSE(has_avif_magic({}));
}

}  // namespace
}  // namespace stoker
