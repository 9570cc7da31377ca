#include "stoker/format/parquet/parquet_values.h"

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

[[noreturn]] void fail_in_value() { fail(ErrorKind::kData, "it ends before its last value"); }

std::optional<std::int64_t> integer_in(Bytes bytes, bool is_unsigned) {
  if (bytes.size() == 4 && is_unsigned) return load_little_endian<std::uint32_t>(bytes.data());
  if (bytes.size() == 4) return load_little_endian<std::int32_t>(bytes.data());
  return load_little_endian<std::int64_t>(bytes.data());
}

/// The byte array whose length stands at `at`, which then is its end.
Bytes take_array(Bytes bytes, std::size_t& at) {
  if (bytes.size() - at < sizeof(std::uint32_t)) fail_in_value();
  const std::uint64_t length = load_little_endian<std::uint32_t>(bytes.data() + at);
  at += sizeof(std::uint32_t);
  if (length > bytes.size() - at) fail_in_value();
  const Bytes value = bytes.subspan(at, static_cast<std::size_t>(length));
  at += value.size();
  return value;
}

/// A length in front, then the runs.
RunLengthReader runs_with_length(Bytes bytes, std::uint32_t bits) {
  std::size_t at = 0;
  return {take_array(bytes, at), bits};
}

}  // namespace

ParquetDictionary::ParquetDictionary(const ParquetColumn& column, const ParquetPageHeader& header, Bytes bytes)
    : bytes_(bytes),
      width_(column.width),
      is_integer_(column.is_integer()),
      is_unsigned_(column.is_unsigned),
      count_(header.values) {
  if (header.encoding != ParquetEncoding::kPlain && header.encoding != ParquetEncoding::kPlainDictionary) {
    fail(ErrorKind::kData, "it is a dictionary in the encoding {}", parquet_encoding_name(header.encoding));
  }
  if (column.type == ParquetType::kBoolean) fail(ErrorKind::kData, "it is a dictionary of truth values");
  if (width_ > 0) {
    if (bytes_.size() < std::uint64_t{count_} * width_) {
      fail(ErrorKind::kData, "its dictionary has {} bytes for {} values of {}", bytes_.size(), count_, width_);
    }
    return;
  }
  if (bytes_.size() / sizeof(std::uint32_t) < count_) fail_in_value();
  ends_.reserve(count_);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    take_array(bytes_, at);
    ends_.push_back(static_cast<std::uint32_t>(at));
  }
}

ParquetValue ParquetDictionary::value(std::uint32_t number) const {
  if (number >= count_) {
    fail(ErrorKind::kData, "it names value {} of a dictionary that has {}", number, count_);
  }
  ParquetValue value{.place = ParquetValue::Place::kDictionary};
  std::uint64_t end = 0;
  if (width_ > 0) {
    value.begin = std::uint64_t{number} * width_;
    end = value.begin + width_;
  } else {
    value.begin = (number == 0 ? 0 : ends_[number - 1]) + sizeof(std::uint32_t);
    end = ends_[number];
  }
  value.bytes = bytes_.subspan(static_cast<std::size_t>(value.begin), static_cast<std::size_t>(end - value.begin));
  if (is_integer_) value.integer = integer_in(value.bytes, is_unsigned_);
  return value;
}

ParquetValues::ParquetValues(const ParquetColumn& column, ParquetEncoding encoding, Bytes bytes, std::uint32_t count,
                             const ParquetDictionary* dictionary)
    : bytes_(bytes),
      width_(column.width),
      is_integer_(column.is_integer()),
      is_unsigned_(column.is_unsigned),
      dictionary_(dictionary) {
  const bool is_boolean = column.type == ParquetType::kBoolean;
  const bool is_array = column.type == ParquetType::kByteArray;
  switch (encoding) {
    case ParquetEncoding::kPlain:
      kind_ = is_boolean ? Kind::kBits : is_array ? Kind::kByteArrays : Kind::kFixed;
      return;
    case ParquetEncoding::kPlainDictionary:
    case ParquetEncoding::kDictionary:
      if (!dictionary) fail(ErrorKind::kData, "it names values of a dictionary, and its column has none");
      kind_ = Kind::kDictionary;
      // Of a list, which is to be one range.
      if (width_ > 0 && column.repetition_max > 0) coding_ = PackedValues::Coding::kNamed;
      if (bytes_.empty()) return;  // where all values are null
      if (bytes_[0] > RunLengthReader::kBitsMax) fail(ErrorKind::kData, "it has numbers of {} bits", bytes_[0]);
      runs_ = RunLengthReader(bytes_.subspan(1), bytes_[0]);
      return;
    case ParquetEncoding::kRunLengths:
      if (!is_boolean) break;
      kind_ = Kind::kRuns;
      if (!bytes_.empty()) runs_ = runs_with_length(bytes_, 1);
      return;
    case ParquetEncoding::kDelta:
      if (!is_integer_) break;
      kind_ = Kind::kDeltas;
      coding_ = PackedValues::Coding::kDeltas;
      if (bytes_.empty()) return;
      deltas_ = DeltaReader(bytes_);
      deltas_left_ = deltas_.count();
      return;
    case ParquetEncoding::kDeltaLengths:
      if (!is_array) break;
      begin_lengths(count);
      return;
    case ParquetEncoding::kSplitBytes:
      if (width_ == 0) break;
      if (bytes_.size() % width_ != 0)
        fail(ErrorKind::kData, "it has {} bytes for values of {}", bytes_.size(), width_);
      kind_ = Kind::kSplit;
      coding_ = PackedValues::Coding::kSplit;
      return;
    case ParquetEncoding::kDeltaStrings:
      if (is_array) break;
      kind_ = Kind::kElsewhere;
      return;
    case ParquetEncoding::kBitPacked: break;
  }
  fail(ErrorKind::kData,
       "its encoding, {}, is one that Stoker does not read in such a column; write the file anew without it: "
       "`pyarrow.parquet.write_table(pyarrow.parquet.read_table(OLD), NEW)`",
       parquet_encoding_name(encoding));
}

void ParquetValues::begin_lengths(std::uint32_t count) {
  kind_ = Kind::kLengths;
  if (bytes_.empty()) return;
  deltas_ = DeltaReader(bytes_);
  deltas_left_ = deltas_.count();
  if (deltas_left_ > count) fail(ErrorKind::kData, "it has {} lengths for {} values", deltas_left_, count);
  // The values follow the lengths.
  DeltaReader lengths = deltas_;
  for (std::uint64_t i = 0; i < deltas_left_; ++i) lengths.next();
  at_ = lengths.end();
}

ParquetValue ParquetValues::next_array() {
  Bytes value;
  if (kind_ == Kind::kByteArrays) {
    value = take_array(bytes_, at_);
  } else {
    const std::int64_t length = deltas_.next();
    if (length < 0 || static_cast<std::uint64_t>(length) > bytes_.size() - at_) fail_in_value();
    value = bytes_.subspan(at_, static_cast<std::size_t>(length));
    at_ += value.size();
  }
  return {.place = ParquetValue::Place::kPage, .begin = at_ - value.size(), .bytes = value};
}

ParquetValue ParquetValues::next() {
  switch (kind_) {
    case Kind::kByteArrays: return next_array();
    case Kind::kLengths:
      if (deltas_left_-- == 0) break;
      return next_array();
    case Kind::kFixed: {
      if (bytes_.size() - at_ < width_) break;
      ParquetValue value{.place = ParquetValue::Place::kPage, .begin = at_, .bytes = bytes_.subspan(at_, width_)};
      if (is_integer_) value.integer = integer_in(value.bytes, is_unsigned_);
      at_ += width_;
      return value;
    }
    case Kind::kBits: {
      const std::uint64_t bit = bit_++;
      if (bit / 8 >= bytes_.size()) break;
      return {.integer = bytes_[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & 1};
    }
    case Kind::kRuns: return {.integer = runs_.next()};
    case Kind::kDictionary: {
      const ParquetValue value = dictionary_->value(runs_.next());
      return coding_ ? unpacked(value.bytes) : value;
    }
    case Kind::kDeltas: {
      if (deltas_left_ == 0) break;
      --deltas_left_;
      const std::int64_t number = deltas_.next();
      memory_.resize(sizeof(number));
      store_little_endian(memory_.data(), number);
      return unpacked(Bytes(memory_).first(width_));
    }
    case Kind::kSplit: {
      const std::size_t count = bytes_.size() / width_;
      if (unpacked_ == count) break;
      memory_.resize(width_);
      for (std::size_t i = 0; i < width_; ++i) memory_[i] = bytes_[i * count + static_cast<std::size_t>(unpacked_)];
      return unpacked(memory_);
    }
    case Kind::kElsewhere: return {};
    case Kind::kNone: break;
  }
  fail_in_value();
}

void ParquetValues::pass(std::uint64_t count) {
  std::uint64_t left = count;  // of a dictionary's numbers the page says how many there are
  switch (kind_) {
    case Kind::kFixed: left = (bytes_.size() - at_) / width_; break;
    case Kind::kDeltas: left = deltas_left_; break;
    case Kind::kSplit: left = bytes_.size() / width_ - unpacked_; break;
    case Kind::kDictionary: break;
    default: left = 0;
  }
  if (count > left) fail_in_value();
  if (kind_ == Kind::kFixed) at_ += static_cast<std::size_t>(count * width_);
  if (kind_ == Kind::kDeltas) deltas_left_ -= count;
  if (coding_) unpacked_ += count;
}

ParquetValue ParquetValues::unpacked(Bytes bytes) {
  ParquetValue value{.place = ParquetValue::Place::kPacked, .begin = unpacked_++ * width_, .bytes = bytes};
  if (is_integer_) value.integer = integer_in(bytes, is_unsigned_);
  return value;
}

}  // namespace stoker
