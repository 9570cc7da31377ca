#include "stoker/format/parquet/parquet_column.h"

#include <cassert>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

[[noreturn]] void fail_of_level() { fail(ErrorKind::kData, "it has a level above those of its column"); }

}  // namespace

void PageMemory::charge(std::uint64_t bytes) {
  if (bytes > bytes_max_ - bytes_) {
    fail(ErrorKind::kLimit,
         "with the pages of other columns it would take more memory than the {} that a scan may; write the file anew "
         "with smaller pages or row groups",
         byte_count(bytes_max_));
  }
  bytes_ += bytes;
}

void ChargedPage::charge(std::uint64_t bytes) {
  memory_.release(bytes_);
  bytes_ = 0;
  memory_.charge(bytes);
  bytes_ = bytes;
}

template <typename Work>
auto ParquetColumnReader::with_place(const Work& work) {
  try {
    return work();
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData && wrong.kind() != ErrorKind::kLimit) throw;
    throw Error(wrong.kind(), fmt::format("'{}': column '{}', page at byte {}, cannot be used: {}", scan_.file.name(),
                                          column_.path, page_at_, wrong.message()));
  }
}

ParquetColumnReader::ParquetColumnReader(ParquetScan& scan, const ParquetColumn& column, const ParquetChunk& chunk)
    : scan_(scan),
      column_(column),
      bytes_(scan.file, chunk.begin, chunk.begin + chunk.bytes, scan.read_bytes),
      left_(chunk.values),
      page_at_(chunk.begin),
      page_charge_(scan.memory),
      dictionary_charge_(scan.memory),
      unpacked_charge_(scan.memory) {
  with_place([&] { codec_ = block_codec_of(chunk.codec); });
}

bool ParquetColumnReader::begins_row() {
  if (left_ == 0) return true;
  with_place([&] { see_next(); });
  return repetition_ == 0;
}

ParquetEntry ParquetColumnReader::next() {
  assert(left_ > 0);
  return with_place([&] {
    see_next();
    take_entry();
    ParquetEntry entry{.definition = definition_};
    if (definition_ == column_.definition_max) entry.value = values_.next();
    return entry;
  });
}

ParquetNumbers ParquetColumnReader::next_numbers() {
  assert(left_ > 0 && column_.repetition_max == 1 && column_.width > 0);
  return with_place([&] {
    see_next();
    ParquetNumbers found;
    const auto count_entry = [&] {
      if (definition_ > column_.definition_max) fail_of_level();
      if (definition_ == column_.definition_max) {
        ++found.count;
      } else if (definition_ >= column_.element_definition) {
        found.has_null = true;
      }
    };
    take_entry();
    count_entry();
    const std::uint64_t more = repetitions_.pass_equal(column_.repetition_max, page_left_);
    std::uint64_t there = column_.definition_max > 0 ? definitions_.pass_equal(column_.definition_max, more) : more;
    found.count += there;
    for (; there < more; ++there) {
      definition_ = definitions_.next();
      count_entry();
    }
    left_ -= more;
    page_left_ -= static_cast<std::uint32_t>(more);
    if (found.count > 0) {
      found.offset = (values_.coding() ? place_of_unpacked() : place(page_) + values_at_) + values_.position();
      values_.pass(found.count);
    }
    found.page_ends = page_left_ == 0;
    return found;
  });
}

void ParquetColumnReader::append_last_numbers(std::uint64_t count, std::vector<std::uint8_t>& bytes) {
  with_place([&] {
    const std::size_t end = static_cast<std::size_t>(values_.position());
    const std::size_t length = static_cast<std::size_t>(count * column_.width);
    if (!values_.coding()) {
      const Bytes last = page_.bytes.subspan(values_at_ + end - length, length);
      bytes.insert(bytes.end(), last.begin(), last.end());
      return;
    }
    unpacked_charge_.charge(end);
    std::vector<std::uint8_t> unpacked(end);
    unpack_values(packed_values(), page_.bytes, dictionary_body_.bytes, unpacked);
    bytes.insert(bytes.end(), unpacked.end() - static_cast<std::ptrdiff_t>(length), unpacked.end());
    unpacked_charge_.charge(0);
  });
}

void ParquetColumnReader::take_entry() {
  has_next_ = false;
  --left_;
  --page_left_;
}

void ParquetColumnReader::see_next() {
  if (has_next_) return;
  while (page_left_ == 0) load_page();
  repetition_ = column_.repetition_max > 0 ? repetitions_.next() : 0;
  definition_ = column_.definition_max > 0 ? definitions_.next() : 0;
  if (repetition_ > column_.repetition_max || definition_ > column_.definition_max) {
    fail_of_level();
  }
  has_next_ = true;
}

void ParquetColumnReader::load_page() {
  page_at_ = bytes_.position();
  if (bytes_.left() == 0) fail(ErrorKind::kData, "there is none, and {} are left to come", counted(left_, "value"));
  const ParquetPageHeader header = take_page_header(bytes_);
  using Kind = ParquetPageHeader::Kind;
  const bool is_dictionary = header.kind == Kind::kDictionary;
  // A dictionary is kept as it is and decompressed, with a number for each value, which takes four bytes of it at
  // least.
  const std::uint64_t copies = is_dictionary ? 2 : codec_ == BlockCodec::kStored ? 0 : 1;
  ChargedPage& charge = is_dictionary ? dictionary_charge_ : page_charge_;
  charge.charge(header.stored_length + copies * header.length);
  const std::uint64_t begin = bytes_.position();
  const Bytes stored = bytes_.take(header.stored_length);
  check_page(header, stored);
  if (is_dictionary) {
    load_dictionary(header, begin, stored);
  } else if (header.kind != Kind::kIndex) {
    load_values(header, begin, stored);
  }
}

void ParquetColumnReader::load_dictionary(const ParquetPageHeader& header, std::uint64_t begin, Bytes stored) {
  if (dictionary_) fail(ErrorKind::kData, "its column has a dictionary already");
  unpack(dictionary_body_, true, begin, stored, header.length);
  if (codec_ == BlockCodec::kStored) {
    dictionary_body_.memory.assign(stored.begin(), stored.end());
    dictionary_body_.bytes = dictionary_body_.memory;
  }
  dictionary_.emplace(column_, header, dictionary_body_.bytes);
}

void ParquetColumnReader::load_values(const ParquetPageHeader& header, std::uint64_t begin, Bytes stored) {
  if (header.values > left_) {
    fail(ErrorKind::kData, "it has {}, and {} are left of its column", counted(header.values, "value"), left_);
  }
  values_at_ = 0;
  if (header.kind == ParquetPageHeader::Kind::kData2) {
    const std::size_t levels = header.level_bytes();
    unpack(page_, header.is_compressed, begin + levels, stored.subspan(levels), header.length - levels);
    repetitions_ = {stored.first(header.repetition_bytes), bits_for(column_.repetition_max)};
    definitions_ = {stored.subspan(header.repetition_bytes, header.definition_bytes), bits_for(column_.definition_max)};
  } else {
    unpack(page_, true, begin, stored, header.length);
    if (column_.repetition_max > 0) {
      repetitions_ = {take_levels(header.has_run_length_repetitions, page_.bytes, values_at_),
                      bits_for(column_.repetition_max)};
    }
    if (column_.definition_max > 0) {
      definitions_ = {take_levels(header.has_run_length_definitions, page_.bytes, values_at_),
                      bits_for(column_.definition_max)};
    }
  }
  values_ = ParquetValues(column_, header.encoding, page_.bytes.subspan(values_at_), header.values,
                          dictionary_ ? &*dictionary_ : nullptr);
  page_left_ = page_values_ = header.values;
  all_definitions_ = definitions_;
  unpacked_at_.reset();
}

Bytes ParquetColumnReader::take_levels(bool are_run_lengths, Bytes body, std::size_t& at) {
  if (!are_run_lengths) {
    fail(ErrorKind::kData,
         "its levels are in the encoding BIT_PACKED, which has been given up and which Stoker does not read; write the "
         "file anew: `pyarrow.parquet.write_table(pyarrow.parquet.read_table(OLD), NEW)`");
  }
  if (body.size() - at < sizeof(std::uint32_t)) fail(ErrorKind::kData, "it ends before its levels");
  const std::uint64_t length = load_little_endian<std::uint32_t>(body.data() + at);
  at += sizeof(std::uint32_t);
  if (length > body.size() - at) fail(ErrorKind::kData, "it ends before its levels");
  const Bytes levels = body.subspan(at, static_cast<std::size_t>(length));
  at += levels.size();
  return levels;
}

void ParquetColumnReader::unpack(Body& body, bool is_compressed, std::uint64_t begin, Bytes stored,
                                 std::uint64_t length) const {
  body.begin = begin;
  body.block.reset();
  body.placed_at.reset();
  if (codec_ == BlockCodec::kStored || !is_compressed) {
    if (stored.size() != length) {
      fail(ErrorKind::kData, "it is not compressed, and has {} in place of {}", byte_count(stored.size()), length);
    }
    body.bytes = stored;
    return;
  }
  body.block = CompressedBlock{.offset = begin, .stored_length = stored.size(), .length = length, .codec = codec_};
  require_plausible(codec_, stored.size(), length);
  body.memory.resize(static_cast<std::size_t>(length));
  if (!stored.empty()) {
    decompress(codec_, stored, body.memory);
  } else if (length > 0) {
    fail(ErrorKind::kData, "it has no values");
  }
  body.bytes = body.memory;
}

std::uint64_t ParquetColumnReader::place(Body& body) const {
  if (!body.block) return body.begin;
  if (!body.placed_at) body.placed_at = scan_.places.add(*body.block);
  return *body.placed_at;
}

PackedValues ParquetColumnReader::packed_values() {
  PackedValues packed{
      .block = page_.as_block(), .skipped = values_at_, .width = column_.width, .coding = values_.coding().value()};
  RunLengthReader definitions = all_definitions_;
  for (std::uint64_t seen = 0; seen < page_values_; ++seen) {
    const std::uint64_t left = page_values_ - seen;
    const std::uint64_t there =
        column_.definition_max == 0 ? left : definitions.pass_equal(column_.definition_max, left);
    packed.count += there;
    seen += there;
    if (seen < page_values_) definitions.next();
  }
  if (packed.has_dictionary()) {
    if (!dictionary_number_) dictionary_number_ = scan_.places.add_numbered(dictionary_body_.as_block());
    packed.dictionary = *dictionary_number_;
  }
  return packed;
}

std::uint64_t ParquetColumnReader::place_of_unpacked() {
  if (!unpacked_at_) unpacked_at_ = scan_.places.add(packed_values());
  return *unpacked_at_;
}

std::uint64_t ParquetColumnReader::offset(const ParquetValue& value) {
  assert(value.place != ParquetValue::Place::kNowhere);
  if (value.place == ParquetValue::Place::kDictionary) return place(dictionary_body_) + value.begin;
  if (value.place == ParquetValue::Place::kPacked) return place_of_unpacked() + value.begin;
  return place(page_) + values_at_ + value.begin;
}

}  // namespace stoker
