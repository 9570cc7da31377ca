#include "stoker/plan/toml_mistake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/plan/recipe.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Case {
  const char *name, *line, *says;  // the third line of the text; what the whole sentence is
};

std::ostream& operator<<(std::ostream& out, const Case& of) { return out << of.name; }

TEST(TomlDocument, LimitsTheDotsOfALine) {
  const std::string many(20'000, '.');
  EXPECT_EQ(error_of([&] { Recipe::from_toml("a" + many + "b = 1"); }).kind(), ErrorKind::kLimit);
  std::string text = "[[view]]\nname = \"image\"\noperators = [{ op = \"decode\" }";
  for (int i = 0; i < 10'000; ++i) text += ",\n{ op = \"random_flip\", p = 0.5 }";
  EXPECT_EQ(Recipe::from_toml(text + "]\n").views().size(), 1u);
}

class TomlMistake : public testing::TestWithParam<Case> {};

TEST_P(TomlMistake, IsToldByWhatWasMeant) {
  const std::string text = std::string("[[view]]\nname = \"image\"\n") + GetParam().line + "\n";
  const Error error = error_of([&] { Recipe::from_toml(text); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.message(), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Usual, TomlMistake,
    testing::Values(
        Case{"Unquoted", "field = image", R"(line 3: `image` is not quoted; write text in quotes: field = "image")"},
        Case{"UnquotedLikeATruth", "field = train",
             R"(line 3: `train` is not quoted; write text in quotes: field = "train")"},
        Case{"UnquotedPath", "field = data/a.jpg",
             R"(line 3: `data/a.jpg` is not quoted; write text in quotes: field = "data/a.jpg")"},
        Case{"UnquotedInTable", R"(operators = [{ op = "resize", size = 3, filter = box }])",
             R"(line 3: `box` is not quoted; write text in quotes: filter = "box")"},
        Case{"UnquotedInList", "operators = [decode, flip]",
             R"(line 3: `decode` is not quoted; write text in quotes: "decode")"},
        Case{"PythonTruth", R"(operators = [{ op = "resize", size = True }])",
             R"(line 3: `True` must be written true: `operators = [{ op = "resize", size = True }]`)"},
        Case{"PythonNone", "field = None", "line 3: TOML has no `None`; leave out 'field': `field = None`"},
        Case{"PythonCall", "operators = [decode()]",
             "line 3: an operator is not called as in Python; write it as { op = \"decode\", NAME = VALUE }: "
             "`operators = [decode()]`"},
        Case{
            "Tuple", R"(operators = [{ op = "resize", size = (3, 4) }])",
            R"(line 3: a list is written in square brackets: [3, 4]: `operators = [{ op = "resize", size = (3, 4) }]`)"},
        Case{"Colon", R"(field: "image")",
             R"(line 3: write = between a name and its value, not a colon: field = VALUE: `field: "image"`)"},
        Case{
            "ColonInTable", R"(operators = [{ op : "decode" }])",
            R"(line 3: write = between a name and its value, not a colon: op = VALUE: `operators = [{ op : "decode" }]`)"},
        Case{"Twice", R"(name = "other")", R"(line 3: 'name' is given twice: `name = "other"`)"},
        Case{"TwiceInTable", R"(operators = [{ op = "resize", size = 3, size = 4 }])",
             R"(line 3: 'size' is given twice: `operators = [{ op = "resize", size = 3, size = 4 }]`)"},
        Case{"ListLeftOpen", "operators = [\n  { op = \"decode\" },",
             "line 5: the [ that opens in line 3 is not closed with ]"},
        Case{"ListLeftOpenBeforeAName", "operators = [\n  { op = \"decode\" },\nfield = \"image\"",
             R"(line 5: the [ that opens in line 3 is not closed with ]: `field = "image"`)"},
        Case{"ListClosedByABrace", R"(operators = [{ op = "decode" }})",
             R"(line 3: the [ that opens in line 3 is not closed with ]: `operators = [{ op = "decode" }}`)"},
        Case{"TableLeftOpen", "operators = [{ op = \"decode\",\n]",
             "line 3: a table in braces must be on one line: `operators = [{ op = \"decode\",`"},
        Case{"CommaBetweenTables", "operators = [{ op = \"decode\" } { op = \"flip\" }]",
             R"(line 3: a comma is missing before `{`: `operators = [{ op = "decode" } { op = "flip" }]`)"},
        Case{"CommaInTable", R"(operators = [{ op = "resize" size = 3 }])",
             R"(line 3: a comma is missing before `size`: `operators = [{ op = "resize" size = 3 }]`)"},
        Case{"TextLeftOpen", R"(field = "image)",
             R"(line 3: the text that begins with " does not end on this line: `field = "image`)"},
        Case{
            "WindowsPath", R"(field = "C:\data\new")",
            R"(line 3: `\d` in double quotes is not a character; use single quotes, which keep \ as it is: `field = "C:\data\new"`)"},
        Case{"NoValue", "field =", "line 3: 'field' has no value; write field = VALUE: `field =`"},
        Case{"OnlyAName", "field", "line 3: 'field' has no value; write field = VALUE: `field`"},
        Case{"MoreAfterTheValue", "field = \"image\" jpg", "line 3: `jpg` follows the value: `field = \"image\" jpg`"},
        Case{"PointFirst", R"(operators = [{ op = "random_flip", p = .5 }])",
             R"(line 3: a number needs a digit before its point: 0.5: `operators = [{ op = "random_flip", p = .5 }]`)"},
        Case{"TypesettersQuotes", "field = \u201Cimage\u201D",
             "line 3: these are typographic quotes; TOML uses \" and ': `field = \u201Cimage\u201D`"},
        Case{"SlashComment", "// the image", "line 3: a comment begins with #: `// the image`"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TomlMistakes, OfOtherKindsAreToldInTheParsersWordsWithThePlaceAndTheLine) {
  const Error error = error_of([] { Recipe::from_toml("[[view]]\nname = \"a\"\nx = [3/4]\n"); });
  EXPECT_THAT(error.message(), StartsWith("line 3, column "));
  EXPECT_THAT(error.message(), HasSubstr(": `x = [3/4]`"));
}

TEST(TomlMistakes, AreNotSeenInTextAndComments) {
  const char* text =
      "# tail = True, name: x, [\n[[view]]\nname = \"image\" # = box\nfield = 'C:\\data = True'\nx = 3/4\n";
  EXPECT_THAT(error_of([&] { Recipe::from_toml(text); }).message(), StartsWith("line 5, column "));
}

TEST(TomlMistakes, ShowLongLinesInPartAndControlCharactersByNumber) {
  const Error error = error_of([] { Recipe::from_toml("field = \"\x01" + std::string(500, 'a') + "\"\n"); });
  EXPECT_THAT(error.message(), HasSubstr(R"(`field = "\u0001aaa)"));
  EXPECT_LT(error.message().size(), 300u);
}

TEST(TomlMistakes, AreOtherFormatsToo) {
  EXPECT_THAT(error_of([] { Recipe::from_toml("{\"view\": []}"); }).message(), HasSubstr("this is JSON"));
  EXPECT_THAT(error_of([] { Recipe::from_toml("[view]\nname = \"image\"\n"); }).message(),
              HasSubstr("line 1: a recipe may have several views: write [[view]], not [view]"));
}

}  // namespace
}  // namespace stoker
