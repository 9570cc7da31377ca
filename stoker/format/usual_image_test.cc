#include "stoker/format/usual_image.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

using Value = UsualImage::Value;

constexpr std::string_view kUsualNames[] = {"image", "img", "x"};

Value jpeg_value(std::string_view name) { return {.name = name, .extension = "jpg", .is_bytes = true}; }
Value bytes_value(std::string_view name) { return {.name = name, .is_bytes = true}; }
Value empty_value(std::string_view name) { return {.name = name}; }

/// "NUMBER as EXTENSION", "none" or "missing".
std::string chosen(UsualImage& usual, const std::vector<Value>& values) {
  const UsualImage::Choice choice = usual.choose(values);
  if (choice.number) return std::to_string(*choice.number) + " as " + std::string(choice.extension);
  return choice.is_missing ? "missing" : "none";
}

TEST(UsualImage, IsTheFirstOfTheNamesElseTheOnlyImage) {
  UsualImage usual(kUsualNames);
  EXPECT_EQ(chosen(usual, {jpeg_value("mask")}), "0 as jpg");
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), jpeg_value("depth")}), "none");
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), jpeg_value("IMG"), jpeg_value("x")}), "1 as jpg");
  EXPECT_EQ(chosen(usual, {jpeg_value("png"), jpeg_value("image")}), "none") << "a name says what it is";
}

TEST(UsualImage, IsNotReplacedByAnotherWhereItIsDamagedOrMissing) {
  UsualImage usual(kUsualNames);
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), jpeg_value("image")}), "1 as jpg");
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), bytes_value("Image")}), "1 as jpg") << "its decoder says what is wrong";
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), empty_value("image")}), "missing");
  EXPECT_EQ(chosen(usual, {jpeg_value("mask")}), "missing");
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), jpeg_value("img")}), "1 as jpg") << "another of the usual names";
}

TEST(UsualImage, IsKnownByItsColumnBeforeItsFirstRow) {
  UsualImage usual(kUsualNames);
  usual.expect("image");
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), bytes_value("image")}), "missing") << "it may be bytes of another kind";
  EXPECT_EQ(chosen(usual, {jpeg_value("mask"), jpeg_value("image")}), "1 as jpg");
  UsualImage other(kUsualNames);
  other.expect("x");
  EXPECT_EQ(chosen(other, {jpeg_value("photo"), bytes_value("x")}), "0 as jpg") << "whatever a model is given";
}

TEST(UsualImage, IsNoElementOfAList) {
  UsualImage usual(kUsualNames);
  Value element = jpeg_value("views.0");
  element.is_other = true;
  EXPECT_EQ(chosen(usual, {element}), "none");
  EXPECT_EQ(chosen(usual, {element, jpeg_value("cover")}), "1 as jpg");
}

}  // namespace
}  // namespace stoker
