#include "stoker/storage/packed_integers.h"

#include <algorithm>
#include <bit>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

[[noreturn]] void fail_short() { fail(ErrorKind::kData, "it ends before its last value"); }

std::uint64_t take_varint(Bytes bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == bytes.size()) fail_short();
    const std::uint8_t byte = bytes[at++];
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  fail(ErrorKind::kData, "it has a number of more than 64 bits");
}

/// Up to 64 bits, the lowest of each byte first.
std::uint64_t take_bits(Bytes bytes, std::uint64_t bit, std::uint32_t count) {
  constexpr std::uint32_t kInOneLoad = 57;  // wherever in a byte they begin
  if (count <= kInOneLoad && bit / 8 + sizeof(std::uint64_t) <= bytes.size()) {
    const auto there = load_little_endian<std::uint64_t>(bytes.data() + static_cast<std::size_t>(bit / 8));
    return there >> (bit % 8) & ((std::uint64_t{1} << count) - 1);
  }
  std::uint64_t value = 0;
  for (std::uint32_t have = 0; have < count;) {
    const std::uint64_t at = (bit + have) / 8;
    const auto skip = static_cast<std::uint32_t>((bit + have) % 8);
    const std::uint32_t some = std::min(8 - skip, count - have);
    if (at >= bytes.size()) fail_short();
    const std::uint64_t part = bytes[static_cast<std::size_t>(at)] >> skip & ((1U << some) - 1);
    value |= part << have;
    have += some;
  }
  return value;
}

}  // namespace

std::uint32_t bits_for(std::uint32_t most) { return static_cast<std::uint32_t>(std::bit_width(most)); }

void RunLengthReader::begin_run() {
  const std::uint64_t header = take_varint(bytes_, at_);
  const std::size_t left = bytes_.size() - at_;
  if (header % 2 == 0) {
    const std::size_t width = (bits_ + 7) / 8;
    if (width > left) fail_short();
    value_ =
        static_cast<std::uint32_t>(take_bits(bytes_.subspan(at_, width), 0, static_cast<std::uint32_t>(8 * width)));
    at_ += width;
    repeats_ = header / 2;
    return;
  }
  // The last group may be cut off where its values end.
  const std::uint64_t groups = header / 2;
  if (bits_ == 0) {
    value_ = 0;
    repeats_ = 8 * std::min<std::uint64_t>(groups, std::uint64_t{1} << 32);
    return;
  }
  packed_at_ = at_;
  packed_bit_ = 0;
  const std::uint64_t whole = std::min<std::uint64_t>(groups, left / bits_ + 1);
  packed_ = std::min<std::uint64_t>(8 * whole, 8 * std::uint64_t{left} / bits_);
  at_ += static_cast<std::size_t>(std::min<std::uint64_t>(whole * bits_, left));
}

std::uint32_t RunLengthReader::next() {
  while (repeats_ == 0 && packed_ == 0) begin_run();
  if (repeats_ > 0) {
    --repeats_;
    return value_;
  }
  --packed_;
  const auto value = static_cast<std::uint32_t>(take_bits(bytes_.subspan(packed_at_), packed_bit_, bits_));
  packed_bit_ += bits_;
  return value;
}

std::uint64_t RunLengthReader::pass_equal(std::uint32_t value, std::uint64_t most) {
  std::uint64_t passed = 0;
  while (passed < most) {
    while (repeats_ == 0 && packed_ == 0) begin_run();
    std::uint64_t some = 0;
    if (repeats_ > 0) {
      some = value_ == value ? std::min(repeats_, most - passed) : 0;
      repeats_ -= some;
    } else {
      some = pass_equal_packed(value, most - passed);
    }
    if (some == 0) break;
    passed += some;
  }
  return passed;
}

/// Not more than the next ones, as many as a word has.
std::uint64_t RunLengthReader::pass_equal_packed(std::uint32_t value, std::uint64_t most) {
  constexpr std::uint64_t kWordBits = 32;
  const std::uint64_t there = std::min({packed_, most, bits_ == 1 ? kWordBits : 1});
  const std::uint64_t word =
      take_bits(bytes_.subspan(packed_at_), packed_bit_, static_cast<std::uint32_t>(there * bits_));
  std::uint64_t passed = word == value ? 1 : 0;
  if (bits_ == 1) {
    const std::uint64_t others = value == 1 ? ~word : value == 0 ? word : ~std::uint64_t{0};
    passed = std::min<std::uint64_t>(there, static_cast<std::uint64_t>(std::countr_zero(others)));
  }
  packed_ -= passed;
  packed_bit_ += passed * bits_;
  return passed;
}

DeltaReader::DeltaReader(Bytes bytes) : bytes_(bytes) {
  constexpr std::uint64_t kBlockValuesMax = std::uint64_t{1} << 20;
  const std::uint64_t block_values = varint();
  parts_ = varint();
  count_ = varint();
  value_ = zigzag();
  if (block_values == 0 || block_values > kBlockValuesMax || parts_ == 0 || block_values % parts_ != 0) {
    fail(ErrorKind::kData, "its blocks of {} values in {} parts are none that can be", block_values, parts_);
  }
  part_values_ = block_values / parts_;
  if (part_values_ % 8 != 0) fail(ErrorKind::kData, "its parts of {} values do not end with a byte", part_values_);
  part_ = parts_;
}

std::uint64_t DeltaReader::varint() { return take_varint(bytes_, at_); }

std::uint64_t DeltaReader::zigzag() {
  const std::uint64_t value = varint();
  return value >> 1 ^ (0 - (value & 1));
}

void DeltaReader::begin_block() {
  least_ = zigzag();
  if (parts_ > bytes_.size() - at_) fail_short();
  part_bits_ = bytes_.subspan(at_, static_cast<std::size_t>(parts_));
  at_ += part_bits_.size();
  part_ = 0;
}

void DeltaReader::begin_part() {
  if (part_ == parts_) begin_block();
  bits_ = part_bits_[static_cast<std::size_t>(part_++)];
  if (bits_ > 64) fail(ErrorKind::kData, "it has differences of {} bits", bits_);
  part_at_ = at_;
  bit_ = 0;
  left_of_part_ = part_values_;
  const std::uint64_t bytes = part_values_ / 8 * bits_;
  at_ += static_cast<std::size_t>(std::min<std::uint64_t>(bytes, bytes_.size() - at_));
}

std::int64_t DeltaReader::next() {
  if (taken_++ > 0) {
    if (left_of_part_ == 0) begin_part();
    --left_of_part_;
    // Numbers wrap around, as the format says.
    value_ += least_ + take_bits(bytes_.subspan(part_at_), bit_, bits_);
    bit_ += bits_;
  }
  return static_cast<std::int64_t>(value_);
}

std::size_t DeltaReader::end() const { return at_; }

}  // namespace stoker
