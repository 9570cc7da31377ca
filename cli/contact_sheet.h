// A sheet of pictures in rows and columns on a light ground, with a heading and titles above the columns, and captions
// below the rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/displayed_image.h"

namespace stoker {

class ContactSheet {
 public:
  static constexpr int kCell = 160;    // side of the square a picture is fitted to
  static constexpr int kGap = 12;      // around and between cells
  static constexpr int kCaption = 16;  // height of a caption below each cell
  static constexpr int kHeader = 40;   // height of heading and column titles
  static constexpr int kDetail = 12;   // height of each line of details between them

  /// Details too long for the sheet's width are broken into lines, and so are titles too long for their column's.
  ContactSheet(int rows, const std::string& heading, const std::string& details,
               const std::vector<std::string>& column_titles);

  /// Fits the picture into its cell.
  void put(int row, int column, const RgbImage& picture);
  /// A caption too long for the sheet's width loses its beginning, since keys differ at the end.
  void put_caption(int row, std::string_view caption);

  const RgbImage& image() const { return sheet_; }

 private:
  static int width_of(std::size_t columns) { return kGap + static_cast<int>(columns) * (kCell + kGap); }
  int left_of(int column) const { return width_of(static_cast<std::size_t>(column)); }
  int top_of(int row) const { return kGap + header_ + row * (kCell + kCaption + kGap); }
  void fill(Rect area, std::uint8_t grey);
  void write(int x, int y, std::string_view text, std::uint8_t grey);

  int header_;
  RgbImage sheet_;
};

/// The text in lines of at most `letters`, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t letters);

}  // namespace stoker
