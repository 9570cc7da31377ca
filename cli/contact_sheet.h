// A sheet of pictures in rows and columns on a light ground, with titles above the columns and captions below the
// pictures.
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

  ContactSheet(int rows, const std::string& heading, const std::vector<std::string>& column_titles);

  /// Fits the picture into its cell. A caption too long loses its beginning: keys differ at the end.
  void put(int row, int column, const RgbImage& picture, std::string_view caption = {});

  const RgbImage& image() const { return sheet_; }

 private:
  int left_of(int column) const { return kGap + column * (kCell + kGap); }
  int top_of(int row) const { return kGap + kHeader + row * (kCell + kCaption + kGap); }
  void fill(Rect area, std::uint8_t grey);
  void write(int x, int y, std::string_view text, std::uint8_t grey);

  RgbImage sheet_;
};

}  // namespace stoker
