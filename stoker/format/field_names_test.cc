#include "stoker/format/field_names.h"

#include <gtest/gtest.h>

#include <string>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

TEST(FieldNames, KeepEachNameOnce) {
  FieldNames names;
  const std::string_view kept = names.keep(std::string("image.jpg"));
  EXPECT_EQ(kept, "image.jpg");
  for (int i = 0; i < 100; ++i) names.keep(std::to_string(i));
  EXPECT_EQ(names.keep("image.jpg").data(), kept.data());
}

TEST(FieldNames, AreNeitherLongNorMany) {
  FieldNames names;
  EXPECT_EQ(names.keep(std::string(kNameBytesMax, 'n')).size(), kNameBytesMax);
  EXPECT_EQ(error_of([&] { names.keep(std::string(kNameBytesMax + 1, 'n')); }).kind(), ErrorKind::kData);
  EXPECT_EQ(error_of([] { checked_name(std::string(kNameBytesMax + 1, 'n')); }).kind(), ErrorKind::kData);
  for (std::size_t i = 1; i < FieldNames::kNamesMax; ++i) names.keep(std::to_string(i));
  EXPECT_EQ(names.keep("1"), "1");
  EXPECT_EQ(error_of([&] { names.keep("one more"); }).kind(), ErrorKind::kData);
}

}  // namespace
}  // namespace stoker
