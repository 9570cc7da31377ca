#include "cli/contact_sheet.h"

#include <algorithm>

#include "cli/font_5x8.h"

namespace stoker {
namespace {

constexpr std::uint8_t kGround = 246, kCellGround = 232, kInk = 40, kFaintInk = 110;
constexpr int kGlyphWidth = 5, kAdvance = 6;

// The number of letters that fit between the margins.
std::size_t letters_per_line(int width) {
  return static_cast<std::size_t>((width - 2 * ContactSheet::kGap + kAdvance - kGlyphWidth) / kAdvance);
}

std::string shortened(std::string_view text, std::size_t letters) {
  if (text.size() <= letters) return std::string(text);
  return ".." + std::string(text.substr(text.size() - (letters - 2)));
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t letters) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t length = std::min(text.size(), letters);
    if (length < text.size()) {
      const std::size_t space = text.rfind(' ', length);
      if (space != std::string_view::npos && space > 0) length = space;
    }
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return lines;
}

ContactSheet::ContactSheet(int rows, const std::string& heading, const std::string& details,
                           const std::vector<std::string>& column_titles) {
  const int width = width_of(column_titles.size());
  const std::vector<std::string> lines = wrapped(details, letters_per_line(width));
  std::vector<std::vector<std::string>> titles;
  std::size_t title_lines = 1;
  for (const std::string& title : column_titles) {
    titles.push_back(wrapped(title, kCell / kAdvance));
    title_lines = std::max(title_lines, titles.back().size());
  }
  header_ = kHeader + static_cast<int>(lines.size() + title_lines - 1) * kDetail;
  sheet_ = RgbImage(width, top_of(rows));
  fill({0, 0, sheet_.width, sheet_.height}, kGround);
  write(kGap, kGap, heading, kInk);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    write(kGap, kGap + 15 + static_cast<int>(i) * kDetail, lines[i], kFaintInk);
  }
  const int titles_top = kGap + header_ - static_cast<int>(title_lines) * kDetail;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    for (std::size_t line = 0; line < titles[i].size(); ++line) {
      write(left_of(static_cast<int>(i)), titles_top + static_cast<int>(line) * kDetail, titles[i][line], kFaintInk);
    }
  }
}

void ContactSheet::put(int row, int column, const RgbImage& picture) {
  const Rect cell{left_of(column), top_of(row), kCell, kCell};
  fill(cell, kCellGround);
  const RgbImage small = fitted(picture, kCell);
  const ImageView from = small.view();
  const MutableImageView to = sheet_.view();
  const int left = cell.x + (kCell - small.width) / 2, top = cell.y + (kCell - small.height) / 2;
  for (int y = 0; y < small.height; ++y) std::copy_n(from.at(0, y), small.width * 3, to.at(left, top + y));
}

void ContactSheet::put_caption(int row, std::string_view caption) {
  write(kGap, top_of(row) + kCell + 5, shortened(caption, letters_per_line(sheet_.width)), kFaintInk);
}

void ContactSheet::fill(Rect area, std::uint8_t grey) {
  const MutableImageView to = sheet_.view();
  for (int y = area.y; y < area.y + area.height; ++y) std::fill_n(to.at(area.x, y), area.width * 3, grey);
}

void ContactSheet::write(int x, int y, std::string_view text, std::uint8_t grey) {
  for (const char letter : text) {
    const Glyph& glyph = glyph_of(letter);
    for (int row = 0; row < static_cast<int>(glyph.rows.size()); ++row) {
      for (int column = 0; column < kGlyphWidth; ++column) {
        const bool inside = x + column < sheet_.width;
        if (inside && glyph.rows[static_cast<std::size_t>(row)] >> (kGlyphWidth - 1 - column) & 1) {
          fill({x + column, y + row, 1, 1}, grey);
        }
      }
    }
    x += kAdvance;
  }
}

}  // namespace stoker
