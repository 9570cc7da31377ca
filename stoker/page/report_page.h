// A report for people as one HTML page: text, tables, and charts that a small script in the page draws from data in the
// page. It needs neither a network nor fonts. It is also well-formed XML.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct PageTable {
  struct Column {
    std::string title;
    std::string style = "number";  // or empty, for text
  };
  struct Cell {
    std::string text;
    bool is_new = false;      // unlike the one above
    std::size_t columns = 1;  // that it takes
  };
  struct Row {
    std::vector<Cell> cells;
    bool is_quiet = false;  // of less interest
  };

  std::vector<Column> columns;
  std::vector<Row> rows{};
};

struct PageFigure {
  std::string value, meaning;  // "38%", "GPU idle"
};

/// Text may hold any bytes; characters that XML does not permit become U+FFFD.
class ReportPage {
 public:
  explicit ReportPage(std::string_view title);

  void heading(std::string_view text);
  /// `style`: "verdict", larger; with "good", "poor" or "open" ("verdict good") in a frame of that color; or "remark",
  /// paler.
  void paragraph(std::string_view text, std::string_view style = "");
  /// The few numbers that matter, in large letters.
  void figures(const std::vector<PageFigure>& figures);
  /// Text as a terminal has it: its lines stay lines.
  void code(std::string_view text);
  /// page_template.h describes the data of each kind of chart. `about` is for readers that cannot see the chart.
  void chart(const nlohmann::ordered_json& data, std::string_view about, std::string_view caption);
  void table(const PageTable& table);
  /// A paragraph that a script finds by its id.
  void place(std::string_view id, std::string_view style, std::string_view text = "");
  /// Runs when the page and its charts are there. It must be well-formed in a CDATA section.
  void script(std::string_view code);

  std::string html() const;

 private:
  std::string title_, body_, charts_;
};

/// The text as it may occur between tags and in attributes.
std::string html_escaped(std::string_view text);
/// With five digits, which is more than a chart shows.
double chart_number(double value);

}  // namespace stoker
