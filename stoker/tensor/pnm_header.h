// The header of a PNM image (PBM, PGM or PPM), which is text: formats tell such images from other bytes by it, and
// their decoder begins with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/bytes.h"

namespace stoker {

struct PnmHeader {
  int kind = 0;  // of "P1" to "P6"
  int width = 0, height = 0;
  int value_max = 1;     // 1 to 65,535
  std::size_t data = 0;  // where the samples begin

  int channels() const { return kind % 3 == 0 ? 3 : 1; }
  bool is_text() const { return kind <= 3; }
  bool is_bits() const { return kind % 3 == 1; }  // of which 1 is black
};

/// "P1" to "P6", white space, and then nothing but what a header may go on with: a digit, or a comment.
bool has_pnm_magic(Bytes encoded);

/// Whether all of a header is there, and sound: what a text could have by chance is not enough.
bool has_pnm_header(Bytes beginning);

/// Throws kBadSample.
PnmHeader read_pnm_header(Bytes encoded);

/// White space, comments and numbers, one after another. Lasts as long as the bytes.
class PnmText {
 public:
  PnmText(Bytes text, std::size_t at) : text_(text), at_(at) {}

  void skip_space();
  /// Of up to ten digits, after space; nothing where other bytes are, and at the end.
  std::optional<std::uint64_t> next_number();
  /// After space; nothing at the end.
  std::optional<std::uint8_t> next_byte();
  /// Passes over what ends the header: a white space, or a comment with the one that ends it. Nothing else does.
  bool pass_delimiter();
  /// Whether what was read ends here: at the end, or before white space or a comment.
  bool at_break() const;
  bool at_end() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }

 private:
  void skip_comment();

  Bytes text_;
  std::size_t at_;
};

}  // namespace stoker
