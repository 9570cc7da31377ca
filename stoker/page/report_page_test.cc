#include "stoker/page/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "stoker/page/xml_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string well_formed(const ReportPage& page) {
  std::string html = page.html();
  EXPECT_EQ(xml_fault(html), "");
  return html;
}

TEST(ReportPage, NeedsNothingButItself) {
  const std::string html = well_formed(ReportPage("a title"));
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  for (const char* const what : {"<link", "src=", "href=", "url(", "@import", "@font-face", "fetch(", "import("}) {
    EXPECT_THAT(html, Not(HasSubstr(what)));
  }
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
  EXPECT_THAT(html, HasSubstr("<noscript>"));
  // The only addresses are the names of HTML and SVG.
  std::string rest = html;
  for (const std::string_view name : {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"}) {
    const std::size_t at = rest.find(name);
    ASSERT_NE(at, std::string::npos);
    rest.erase(at, name.size());
  }
  EXPECT_THAT(rest, Not(HasSubstr("http")));
}

TEST(ReportPage, EscapesWhatHasAMeaningWhereverTextStands) {
  const std::string text = R"(a "b" </script> ]]> & @body@)",
                    escaped = "a &quot;b&quot; &lt;/script&gt; ]]&gt; &amp; @body@";
  ReportPage page(text);
  page.heading(text);
  page.paragraph(text, "remark");
  page.figures({{text, text}});
  page.code(text);
  page.chart({{"kind", "heat_map"}, {"rows", {text}}}, text, text);
  page.table({{{text}, {"second", ""}}, {{{{text, true}, {"x"}}}}});
  const std::string html = well_formed(page);
  EXPECT_THAT(html, HasSubstr("<title>" + escaped + "</title>"));
  EXPECT_THAT(html, HasSubstr("<h1>" + escaped + "</h1>"));
  EXPECT_THAT(html, HasSubstr("<h2>" + escaped + "</h2>"));
  EXPECT_THAT(html, HasSubstr("<p class=\"remark\">" + escaped + "</p>"));
  EXPECT_THAT(html, HasSubstr("<dt>" + escaped + "</dt><dd>" + escaped + "</dd>"));
  EXPECT_THAT(html, HasSubstr("<pre>" + escaped + "</pre>"));
  EXPECT_THAT(html, HasSubstr("aria-label=\"" + escaped + "\""));
  EXPECT_THAT(html, HasSubstr("<figcaption>" + escaped + "</figcaption>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number new\">" + escaped + "</td>"));
  EXPECT_THAT(html, HasSubstr(R"("rows":["a \"b\" \u003c/script\u003e ]]\u003e \u0026 @body@"])"));
}

TEST(ReportPage, HasNullForWhatIsNoNumberAndAReplacementForWhatIsNoText) {
  ReportPage page("");
  const double infinite = std::numeric_limits<double>::infinity();
  page.chart({{"points", {chart_number(infinite), chart_number(-infinite), chart_number(0.0 * infinite)}},
              {"name", "\xff\x01"}},
             "", "");
  EXPECT_THAT(well_formed(page), HasSubstr(R"([{"points":[null,null,null],"name":"\ufffd\u0001"}])"));
}

TEST(ReportPage, WritesNumbersOfChartsWithFiveDigits) {
  EXPECT_EQ(chart_number(123456.7), 123460);
  EXPECT_EQ(chart_number(0.1 + 0.2), 0.3);
  EXPECT_EQ(chart_number(-1e-320), -1e-320);
}

TEST(ReportPage, LeavesACellOfSeveralColumnsWithoutTheStyleOfOne) {
  ReportPage page("");
  page.table({{{"a"}, {"b"}, {"c", ""}}, {{{{"1", false, 2}, {"text"}}, true}}});
  EXPECT_THAT(well_formed(page), HasSubstr(R"(<tr class="quiet"><td colspan="2">1</td><td>text</td></tr>)"));
}

TEST(ReportPage, HasFiguresInLargeLettersAndCodeAsItIs) {
  ReportPage page("");
  page.figures({{"38%", "GPU idle"}, {"<1", "a & b"}});
  page.code("stoker doctor 'a b'\n  --json");
  const std::string html = well_formed(page);
  EXPECT_THAT(
      html, HasSubstr("<dl><div><dt>GPU idle</dt><dd>38%</dd></div><div><dt>a &amp; b</dt><dd>&lt;1</dd></div></dl>"));
  EXPECT_THAT(html, HasSubstr("<pre>stoker doctor 'a b'\n  --json</pre>"));
}

TEST(ReportPage, ReplacesWhatIsNoCharacterOfXml) {
  EXPECT_EQ(html_escaped("Zürich – 東京 🙂\n\t"), "Zürich – 東京 🙂\n\t");
  for (const std::string_view bad :
       {std::string_view("\0", 1), std::string_view("\x1b"), std::string_view("\xff"), std::string_view("\x80"),
        std::string_view("\xc0\xaf"), std::string_view("\xc3"), std::string_view("\xed\xa0\x80"),
        std::string_view("\xef\xbf\xbe"), std::string_view("\xf4\x90\x80\x80"), std::string_view("\xe0\x80\x80")}) {
    const std::string escaped = html_escaped("a" + std::string(bad) + "b");
    EXPECT_TRUE(escaped.starts_with("a\xEF\xBF\xBD")) << testing::PrintToString(bad);
    EXPECT_TRUE(
        escaped.ends_with("\xEF\xBF\xBD"
                          "b"))
        << testing::PrintToString(bad);
    EXPECT_THAT(escaped, Not(HasSubstr(std::string(bad))));
  }
}

TEST(XmlFault, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(xml_fault("<!DOCTYPE html>\n<a b=\"c\">d<e/>&amp;<![CDATA[ < & ]]></a>\n"), "");
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
