#include "stoker/tuner/report/markup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stoker/tuner/report/markup_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TEST(Markup, WritesElementsWithinEachOther) {
  Markup out;
  out.open("p", {{"class", "a b"}, {"n", 3}});
  out.text("one ");
  out.element("b", {}, "two");
  out.empty("rect", {{"x", 0.25}, {"width", 100.0}});
  out.close();
  EXPECT_EQ(out.take(), R"(<p class="a b" n="3">one <b>two</b><rect x="0.3" width="100"/></p>)");
}

TEST(Markup, EscapesWhatHasAMeaningInTextAndAttributes) {
  Markup out;
  out.element("p", {{"title", R"(a "b" <c> & d)"}}, R"(x < y && "z" > 'w')");
  const std::string written = out.take();
  EXPECT_EQ(written, "<p title=\"a &quot;b&quot; &lt;c&gt; &amp; d\">x &lt; y &amp;&amp; &quot;z&quot; &gt; 'w'</p>");
  EXPECT_EQ(xml_fault(written), "");
}

TEST(Markup, ReplacesWhatIsNoCharacterOfXml) {
  EXPECT_EQ(markup_escaped("Zürich – 東京 🙂\n\t"), "Zürich – 東京 🙂\n\t");
  for (const std::string_view bad :
       {std::string_view("\0", 1), std::string_view("\x1b"), std::string_view("\xff"), std::string_view("\x80"),
        std::string_view("\xc0\xaf"), std::string_view("\xc3"), std::string_view("\xed\xa0\x80"),
        std::string_view("\xef\xbf\xbe"), std::string_view("\xf4\x90\x80\x80"), std::string_view("\xe0\x80\x80")}) {
    const std::string escaped = markup_escaped("a" + std::string(bad) + "b");
    EXPECT_TRUE(escaped.starts_with("a\xEF\xBF\xBD")) << testing::PrintToString(bad);
    EXPECT_TRUE(
        escaped.ends_with("\xEF\xBF\xBD"
                          "b"))
        << testing::PrintToString(bad);
    EXPECT_THAT(escaped, testing::Not(HasSubstr(std::string(bad))));
  }
}

TEST(Markup, WritesNumbersWithoutMoreDigitsThanShow) {
  EXPECT_EQ(Markup::number(12), "12");
  EXPECT_EQ(Markup::number(12.34), "12.3");
  EXPECT_EQ(Markup::number(-0.01), "0");
  EXPECT_EQ(Markup::number(-7.25), "-7.3");
}

TEST(XmlFault, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(xml_fault("<!DOCTYPE html>\n<a b=\"c\">d<e/>&amp;</a>\n"), "");
  EXPECT_THAT(xml_fault("<a><b></a></b>"), HasSubstr("a ends and is not open"));
  EXPECT_THAT(xml_fault("<a><b></b>"), HasSubstr("a is never closed"));
  EXPECT_THAT(xml_fault("<a>x & y</a>"), HasSubstr("a bare &"));
  EXPECT_THAT(xml_fault("<a b=\"<\"/>"), HasSubstr("a bare <"));
  EXPECT_THAT(xml_fault("<a b=c/>"), HasSubstr("no quote"));
  EXPECT_THAT(xml_fault("<a b=\"c\" b=\"d\"/>"), HasSubstr("b stands twice"));
  EXPECT_THAT(xml_fault("<a/><b/>"), HasSubstr("2 root elements"));
  EXPECT_THAT(xml_fault("<a>\x01</a>"), HasSubstr("a control byte"));
  EXPECT_THAT(xml_fault("<a"), HasSubstr("does not end"));
}

}  // namespace
}  // namespace stoker
