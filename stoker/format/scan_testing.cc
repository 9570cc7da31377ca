#include "stoker/format/scan_testing.h"

#include <fmt/format.h>

#include <cstdint>

#include "stoker/storage/source.h"

namespace stoker {

std::vector<std::string> scan_listing(ShardScan& scan, ShardNotes* notes) {
  std::vector<std::string> lines;
  for (SampleRow row; scan.next(row);) {
    std::string line = fmt::format("{} {}", row.key, row.label);
    for (const SampleField& field : row.fields) {
      std::vector<std::uint8_t> content(field.length);
      read_fully(*row.source, field.offset, content);
      line += fmt::format(" {}={}", field.name, as_text(content));
    }
    lines.push_back(std::move(line));
  }
  if (notes) *notes = scan.take_notes();
  return lines;
}

}  // namespace stoker
