// The lists that people write by hand or by a script: text files with one entry a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

struct TextLine {
  int number = 0;  // from 1
  std::string text;
};

/// The lines of a file, without white space around them; empty ones and those that begin with '#' are left out. Nothing
/// for a file that is not text, or is longer than `bytes_max`. Throws kIo, and kData for an empty file.
std::optional<std::vector<TextLine>> read_text_lines(Source& file, std::uint64_t bytes_max);

}  // namespace stoker
