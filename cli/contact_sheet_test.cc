#include "cli/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/font_5x8.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint8_t> pixel(const RgbImage& image, int x, int y) {
  const std::uint8_t* at = image.view().at(x, y);
  return {at, at + 3};
}

int darkest(const RgbImage& image, Rect area) {
  int least = 255;
  for (int y = area.y; y < area.y + area.height; ++y) {
    for (int x = area.x; x < area.x + area.width; ++x) least = std::min<int>(least, *image.view().at(x, y));
  }
  return least;
}

RgbImage plain(int width, int height, std::array<std::uint8_t, 3> color) {
  RgbImage image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = color[i % 3];
  return image;
}

TEST(ContactSheet, PutsEachPictureInTheMiddleOfItsCell) {
  ContactSheet sheet(2, "heading", "", {"one", "two", "three"});
  sheet.put(1, 2, plain(160, 80, {200, 100, 50}));
  const int left = 12 + 2 * 172, top = 12 + 40 + 188;
  EXPECT_THAT(pixel(sheet.image(), left, top + 40), ElementsAre(200, 100, 50));
  EXPECT_THAT(pixel(sheet.image(), left + 159, top + 119), ElementsAre(200, 100, 50));
  EXPECT_THAT(pixel(sheet.image(), left, top + 39), ElementsAre(232, 232, 232));
  EXPECT_THAT(pixel(sheet.image(), left, top + 120), ElementsAre(232, 232, 232));
  EXPECT_THAT(pixel(sheet.image(), left - 1, top + 40), ElementsAre(246, 246, 246));
  EXPECT_EQ(sheet.image().width, 12 + 3 * 172);
  EXPECT_EQ(sheet.image().height, 12 + 40 + 2 * 188);
}

TEST(ContactSheet, WritesHeadingTitlesAndCaptions) {
  ContactSheet sheet(1, "heading", "", {"one", "two"});
  sheet.put(0, 0, plain(10, 10, {}));
  sheet.put_caption(0, "key");
  EXPECT_LT(darkest(sheet.image(), {12, 12, 60, 8}), 100);
  EXPECT_LT(darkest(sheet.image(), {184, 40, 60, 8}), 150);
  EXPECT_LT(darkest(sheet.image(), {12, 217, 20, 8}), 150);
}

TEST(ContactSheet, WritesDetailsInAsManyLinesAsTheyTake) {
  const ContactSheet sheet(1, "heading", "twenty letters, once twenty letters, twice", {"one"});
  EXPECT_EQ(sheet.image().height, 12 + 40 + 2 * 12 + 188);
  EXPECT_LT(darkest(sheet.image(), {12, 27, 60, 8}), 150);
  EXPECT_LT(darkest(sheet.image(), {12, 39, 60, 8}), 150);
  EXPECT_LT(darkest(sheet.image(), {12, 64, 18, 8}), 150);  // the column's title moves down
}

TEST(Wrapped, BreaksAtSpacesOrWhereItMust) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 100), ElementsAre("one two three"));
  EXPECT_THAT(wrapped("abcdefgh ij", 3), ElementsAre("abc", "def", "gh", "ij"));
  EXPECT_THAT(wrapped("", 3), ElementsAre());
}

TEST(ContactSheet, UsesTheWholeRowForACaption) {
  ContactSheet sheet(1, "", "", {"one", "two"});
  sheet.put_caption(0, std::string(50, 'M'));
  EXPECT_LT(darkest(sheet.image(), {184, 217, 60, 8}), 150);
}

TEST(ContactSheet, KeepsLongCaptionsInsideTheSheet) {
  ContactSheet sheet(1, "", "", {"one"});
  sheet.put(0, 0, plain(10, 10, {}));
  sheet.put_caption(0, std::string(500, 'M'));
  EXPECT_EQ(darkest(sheet.image(), {172, 0, 12, sheet.image().height}), 246);
  const ContactSheet narrow(1, std::string(500, 'M'), "", {"one"});  // nor does a heading leave the sheet
  EXPECT_EQ(narrow.image().width, 184);
}

TEST(Font, StandsInOrderAndHoldsNothingTwice) {
  const auto before = [](const Glyph& a, const Glyph& b) { return a.letter < b.letter; };
  EXPECT_TRUE(std::is_sorted(std::begin(kGlyphs), std::end(kGlyphs), before));
  for (const Glyph& a : kGlyphs) {
    for (const Glyph& b : kGlyphs) {
      if (&a != &b) {
        EXPECT_NE(a.letter, b.letter);
        EXPECT_NE(a.rows, b.rows) << a.letter << b.letter;
      }
    }
    for (const std::uint8_t row : a.rows) EXPECT_LT(row, 32) << a.letter;
  }
}

TEST(Font, KnowsWhatRecipesAreWrittenIn) {
  for (const char letter : std::string_view("abcxyzABCXYZ0189 .,:=_-+()[]'/\\"))
    EXPECT_EQ(glyph_of(letter).letter, letter);
}

TEST(Font, DrawsAQuestionMarkForWhatItDoesNotKnow) {
  EXPECT_EQ(glyph_of('k').letter, 'k');
  EXPECT_EQ(glyph_of('\x01').letter, '?');
  EXPECT_EQ(glyph_of('\xc3').letter, '?');
}

}  // namespace
}  // namespace stoker
