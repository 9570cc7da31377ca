#include "stoker/pack/sample_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"

namespace stoker {

void set_checksums(SampleField& field, Bytes bytes, std::vector<std::uint32_t>& chunk_crcs) {
  field.crc32c = crc32c(bytes);
  field.first_chunk = static_cast<std::uint32_t>(chunk_crcs.size());
  field.chunks = 0;
  if (!has_chunk_crcs(field.name, field.length)) return;
  for (Bytes rest = bytes; !rest.empty();) {
    const Bytes chunk = rest.first(std::min<std::size_t>(rest.size(), kChunkBytes));
    chunk_crcs.push_back(crc32c(chunk));
    rest = rest.subspan(chunk.size());
    ++field.chunks;
  }
}

std::string SampleChecker::check(SampleRow& row, std::span<const Bytes> fields) {
  std::string bad;
  row.chunk_crcs.clear();
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    SampleField& field = row.fields[i];
    const std::optional<std::uint32_t> known = field.crc32c;
    set_checksums(field, fields[i], row.chunk_crcs);
    if (known && *known != *field.crc32c && bad.empty()) {
      bad = fmt::format(
          "the checksum of its field '{}' does not match: its bytes are not what they were when the index "
          "was made",
          field.name);
    }
  }
  row.facts.reset();
  row.soundness = bad.empty() ? Soundness::kUnknown : Soundness::kBad;
  const SampleField* image = row.image_field();
  if (!bad.empty() || depth_ == CheckDepth::kChecksums) return bad;
  if (!image) {
    if (depth_ == CheckDepth::kDecoded) row.soundness = Soundness::kClean;  // nothing to decode
    return bad;
  }
  const Bytes encoded = fields[static_cast<std::size_t>(image - row.fields.data())];
  try {
    row.facts = decoder_.read_facts(encoded);
    if (depth_ != CheckDepth::kDecoded) return bad;
    row.soundness = decoder_.decodes_cleanly(encoded, *row.facts) ? Soundness::kClean : Soundness::kConcealed;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadSample && error.kind() != ErrorKind::kLimit) throw;  // the machine's fault
    row.facts.reset();
    row.soundness = Soundness::kBad;
    bad = error.message();
  }
  return bad;
}

}  // namespace stoker
