#include "stoker/pack/sample_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/base/freed_memory.h"
#include "stoker/codec/decode_memory.h"
#include "stoker/format/class_number.h"
#include "stoker/format/member_name.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {

void set_checksums(SampleField& field, Bytes bytes, std::vector<std::uint32_t>& chunk_crcs) {
  field.crc32c = crc32c(bytes);
  field.crc32.reset();
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

std::string lacks_image(const SampleRow& row) {
  if (row.fields.empty()) return "it has no fields";
  std::string names;
  for (const SampleField& field : row.fields) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", field.name);
  return fmt::format("it has no image, only {}", names);
}

namespace {

bool is_expected(std::string_view field) { return is_image_field_name(field) || field.ends_with("npy"); }

}  // namespace

bool expects_images(std::span<const std::string> field_names) {
  return std::any_of(field_names.begin(), field_names.end(), is_expected);
}

bool expects_images(ShardScan& scan) {
  for (SampleRow row; scan.next(row);) {
    for (const SampleField& field : row.fields) {
      if (is_expected(field.name)) return true;
    }
  }
  return false;
}

bool is_array(Bytes beginning, std::uint64_t length) {
  try {
    read_npy_layout(beginning, length);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool holds_array(const SampleRow& row, std::span<const Bytes> fields) {
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    if (row.fields[i].name.ends_with("npy") && is_array(fields[i], fields[i].size())) return true;
  }
  return false;
}

namespace {

/// Gives a field that its shard contradicts checksums that contradict it, too: an index keeps these in the place of the
/// shard's own, and the field is to stay bad.
void contradict(SampleField& field, std::vector<std::uint32_t>& chunk_crcs) {
  field.crc32c = ~*field.crc32c;
  for (std::size_t chunk = field.first_chunk; chunk < chunk_crcs.size(); ++chunk)
    chunk_crcs[chunk] = ~chunk_crcs[chunk];
}

/// Where nothing else says which class, or that there is none, a `cls` does: its number, or one below 0 for none; else
/// the sample is of no use.
std::string check_class(const SampleRow& row, std::span<const Bytes> fields) {
  const SampleField* const field = row.field("cls");
  if (!field || row.label >= 0 || row.relabelled) return {};
  const std::string_view text = as_text(fields[static_cast<std::size_t>(field - row.fields.data())]);
  if (parse_whole_number(text, text.size())) return {};
  return fmt::format("its field 'cls' is '{}', not a class number", text.substr(0, kClassNumberBytesMax / 2));
}

}  // namespace

std::string SampleChecker::check(SampleRow& row, std::span<const Bytes> fields, std::vector<std::uint8_t>& entry_points,
                                 MemoryGate* gate) {
  std::string bad;
  gate_ = gate;
  entry_points.clear();
  row.chunk_crcs.clear();
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    SampleField& field = row.fields[i];
    const std::optional<std::uint32_t> known = field.crc32c;
    const std::string contradiction = contradiction_of_shard(field, fields[i]);
    if (bad.empty()) bad = contradiction;
    set_checksums(field, fields[i], row.chunk_crcs);
    if (!contradiction.empty()) contradict(field, row.chunk_crcs);
    if (known && *known != *field.crc32c && bad.empty()) {
      bad = fmt::format(
          "the checksum of its field '{}' does not match: its bytes have changed since the index was made", field.name);
    }
  }
  row.facts.reset();
  row.soundness = bad.empty() ? Soundness::kUnknown : Soundness::kBad;
  const SampleField* const image = row.image_field();
  const bool is_of_use = image || !expects_images_ || depth_ == CheckDepth::kChecksums || holds_array(row, fields);
  if (!is_of_use && bad.empty()) bad = lacks_image(row);
  if (depth_ == CheckDepth::kDecoded) row.soundness = Soundness::kClean;
  for (std::size_t i = 0; i < row.fields.size() && bad.empty(); ++i) {
    const SampleField& field = row.fields[i];
    const bool is_decoded = depth_ == CheckDepth::kDecoded && is_image_field_name(field.name);
    if (&field == image || is_decoded) bad = check_image(row, field, fields[i], &field == image, entry_points);
  }
  if (bad.empty()) bad = check_class(row, fields);
  if (!bad.empty()) {
    row.facts.reset();
    row.soundness = Soundness::kBad;
    entry_points.clear();
  }
  return bad;
}

/// The row tells the facts of its image alone, but is sound only if all of its images are.
std::string SampleChecker::check_image(SampleRow& row, const SampleField& field, Bytes encoded, bool is_its_image,
                                       std::vector<std::uint8_t>& entry_points) {
  try {
    const ImageFacts facts = decoder_->read_facts(encoded);
    if (is_its_image) row.facts = facts;
    if (gate_ && depth_ == CheckDepth::kDecoded) gate_->enter(decode_cleanly_memory(facts, encoded.size()));
    std::vector<std::uint8_t> of_another;
    if (depth_ == CheckDepth::kDecoded &&
        !decoder_->decodes_cleanly(encoded, facts, is_its_image ? entry_points : of_another)) {
      row.soundness = Soundness::kConcealed;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadSample && error.kind() != ErrorKind::kLimit) throw;  // the machine's fault
    if (is_array(encoded, encoded.size())) return {};
    return is_its_image ? error.message() : fmt::format("its field '{}': {}", field.name, error.message());
  }
  return {};
}

std::function<void(SweptSample&)> checking(CheckDepth depth, const DecodeLimits& limits, bool expects_images) {
  return [checker = std::make_shared<SampleChecker>(depth, limits, expects_images)](SweptSample& sample) {
    sample.bad = checker->check(sample.row, sample.fields, sample.entry_points, sample.turn);
    if (!sample.turn->is_large()) return;
    checker->drop_scratch();
    release_freed(sample.turn->has());
  };
}

}  // namespace stoker
