#include "stoker/page/report_page.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/page/page_template.h"

namespace stoker {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length in bytes of the text's first character, if XML permits it; else 0.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  std::uint32_t character = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    character = character << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  const bool permitted =
      character >= kLeast[bytes] && !surrogate && character != 0xFFFE && character != 0xFFFF && character <= 0x10FFFF;
  return permitted ? bytes : 0;
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
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    switch (text.front()) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += bytes > 0 ? text.substr(0, bytes) : kReplacement;
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return out;
}

double chart_number(double value) { return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr); }

ReportPage::ReportPage(std::string_view title) : title_(html_escaped(title)) {}

void ReportPage::heading(std::string_view text) { body_ += fmt::format("<h2>{}</h2>\n", html_escaped(text)); }

void ReportPage::paragraph(std::string_view text, std::string_view style) {
  body_ += fmt::format("<p{}>{}</p>\n", class_attribute(style), html_escaped(text));
}

// The script draws each chart into the next place of its class.
void ReportPage::chart(const nlohmann::ordered_json& data, std::string_view about, std::string_view caption) {
  charts_ += (charts_.empty() ? "" : ",\n") + script_text(data);
  body_ += fmt::format(
      "<figure><div class=\"chart\" role=\"img\" aria-label=\"{}\"></div><figcaption>{}</figcaption></figure>\n",
      html_escaped(about), html_escaped(caption));
}

void ReportPage::table(const PageTable& table) {
  body_ += "<table>\n<thead><tr>";
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
  body_ += "</tbody>\n</table>\n";
}

std::string ReportPage::html() const {
  return filled(kPageTemplate, {{"@title@", title_}, {"@title@", title_}, {"@body@", body_}, {"@charts@", charts_}});
}

}  // namespace stoker
