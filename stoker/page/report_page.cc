#include "stoker/page/report_page.h"

#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/page/bar_charts.h"
#include "stoker/page/chart_script.h"
#include "stoker/page/heat_map.h"
#include "stoker/page/line_charts.h"
#include "stoker/page/page_style.h"
#include "stoker/page/page_template.h"

namespace stoker {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The text with what is not UTF-8 replaced.
std::string valid_utf8(std::string_view text) {
  using Json = nlohmann::ordered_json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Whether XML, which takes all other characters, refuses the one that the text begins with.
bool begins_unfit(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20) return first != '\t' && first != '\n' && first != '\r';
  return text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
}

// Escapes text so that it ends neither a script nor a CDATA section, and no parser takes it for markup.
std::string script_text(const nlohmann::ordered_json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text;
}

std::string class_attribute(std::string_view style) { return style.empty() ? "" : fmt::format(" class=\"{}\"", style); }

// The text with each mark replaced, in the order of the marks.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> replacements) {
  std::string out;
  for (const auto& [mark, by] : replacements) {
    const std::size_t at = text.find(mark);
    out += text.substr(0, at);
    out += by;
    text.remove_prefix(at + mark.size());
  }
  return out.append(text);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string out;
  for (std::string_view rest = valid; !rest.empty(); rest.remove_prefix(1)) {
    switch (rest.front()) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (!begins_unfit(rest)) {
          out += rest.front();
          break;
        }
        out += kReplacement;
        if (rest.front() == '\xEF') rest.remove_prefix(2);
    }
  }
  return out;
}

double chart_number(double value) { return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr); }

ReportPage::ReportPage(std::string_view title) : title_(html_escaped(title)) {}

void ReportPage::heading(std::string_view text) { body_ += fmt::format("<h2>{}</h2>\n", html_escaped(text)); }

void ReportPage::paragraph(std::string_view text, std::string_view style) {
  body_ += fmt::format("<p{}>{}</p>\n", class_attribute(style), html_escaped(text));
}

void ReportPage::figures(const std::vector<PageFigure>& figures) {
  body_ += "<dl>";
  for (const PageFigure& figure : figures) {
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", html_escaped(figure.meaning), html_escaped(figure.value));
  }
  body_ += "</dl>\n";
}

void ReportPage::code(std::string_view text) { body_ += fmt::format("<pre>{}</pre>\n", html_escaped(text)); }

// The script draws each chart into the next place of its class.
void ReportPage::chart(const nlohmann::ordered_json& data, std::string_view about, std::string_view caption) {
  charts_ += (charts_.empty() ? "" : ",\n") + script_text(data);
  body_ += fmt::format(
      "<figure><div class=\"chart\" role=\"img\" aria-label=\"{}\"></div><figcaption>{}</figcaption></figure>\n",
      html_escaped(about), html_escaped(caption));
}

void ReportPage::table(const PageTable& table) {
  body_ += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const PageTable::Column& column : table.columns) {
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>", class_attribute(column.style), html_escaped(column.title));
  }
  body_ += "</tr></thead>\n<tbody>\n";
  for (const PageTable::Row& row : table.rows) {
    body_ += row.is_quiet ? "<tr class=\"quiet\">" : "<tr>";
    std::size_t column = 0;
    for (const PageTable::Cell& cell : row.cells) {
      if (cell.columns > 1) {
        body_ += fmt::format("<td colspan=\"{}\">", cell.columns);
      } else {
        body_ += fmt::format("<td{}>", class_attribute(table.columns[column].style + (cell.is_new ? " new" : "")));
      }
      body_ += html_escaped(cell.text) + "</td>";
      column += cell.columns;
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody>\n</table></div>\n";
}

void ReportPage::place(std::string_view id, std::string_view style, std::string_view text) {
  body_ += fmt::format("<p id=\"{}\"{}>{}</p>\n", id, class_attribute(style), html_escaped(text));
}

void ReportPage::script(std::string_view code) {
  body_ += fmt::format(
      "<script>//<![CDATA[\n'use strict';\naddEventListener('DOMContentLoaded', () => {{{}}});\n//]]></script>\n",
      code);
}

std::string ReportPage::html() const {
  const std::string script =
      fmt::format("{}{}{}{}{}", kChartBasics, kLinesScript, kHeatMapScript, kBarsScript, kDrawCharts);
  return filled(kPageTemplate, {{"@title@", title_},
                                {"@style@", kPageStyle},
                                {"@title@", title_},
                                {"@body@", body_},
                                {"@charts@", charts_},
                                {"@script@", script}});
}

}  // namespace stoker
