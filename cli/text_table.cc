#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace stoker {

void TextTable::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    widths.push_back(titles[i].size());
    for (const std::vector<std::string>& row : rows_) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::kLeft ? fmt::format("{:<{}}", row[i], widths[i])
                                                : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append(titles);
  for (const std::vector<std::string>& row : rows_) append(row);
  return text;
}

}  // namespace stoker
