#include "stoker/tensor/pnm_header.h"

#include <fmt/format.h>

#include <limits>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kMagicBytes = 2, kDigitsMax = 10;
constexpr std::uint64_t kValueMax = 65'535;

bool is_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool is_digit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }
bool ends_line(std::uint8_t byte) { return byte == '\n' || byte == '\r'; }

/// What is wrong with the header; empty if nothing is.
std::string parse_header(Bytes encoded, PnmHeader& header) {
  if (!has_pnm_magic(encoded)) return "it does not begin with P1 to P6 and a number";
  header.kind = encoded[1] - '0';
  PnmText text(encoded, kMagicBytes);
  std::string wrong;
  const auto read = [&](int& into, const char* name, std::uint64_t most) {
    if (!wrong.empty()) return;
    const std::optional<std::uint64_t> number = text.next_number();
    if (!number || !text.at_break()) {
      wrong = text.at_end() ? fmt::format("it ends before its {}", name) : fmt::format("its {} is not a number", name);
    } else if (*number < 1 || *number > most) {
      wrong = fmt::format("its {} is {}, and may be 1 to {}", name, *number, most);
    } else {
      into = static_cast<int>(*number);
    }
  };
  read(header.width, "width", std::numeric_limits<int>::max());
  read(header.height, "height", std::numeric_limits<int>::max());
  if (!header.is_bits()) read(header.value_max, "largest value", kValueMax);
  if (wrong.empty() && !text.pass_delimiter()) wrong = "it ends after its header";
  header.data = text.at();
  return wrong;
}

}  // namespace

void PnmText::skip_comment() {
  while (at_ < text_.size() && !ends_line(text_[at_])) ++at_;
}

void PnmText::skip_space() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      skip_comment();
    } else if (is_space(text_[at_])) {
      ++at_;
    } else {
      return;
    }
  }
}

std::optional<std::uint64_t> PnmText::next_number() {
  skip_space();
  const std::size_t begin = at_;
  std::uint64_t number = 0;
  while (at_ < text_.size() && is_digit(text_[at_]) && at_ - begin < kDigitsMax)
    number = 10 * number + (text_[at_++] - '0');
  if (at_ == begin) return std::nullopt;
  return number;
}

std::optional<std::uint8_t> PnmText::next_byte() {
  skip_space();
  if (at_end()) return std::nullopt;
  return text_[at_++];
}

bool PnmText::pass_delimiter() {
  if (!at_end() && text_[at_] == '#') skip_comment();
  if (at_end()) return false;
  ++at_;
  return true;
}

bool PnmText::at_break() const { return at_end() || is_space(text_[at_]) || text_[at_] == '#'; }

bool has_pnm_magic(Bytes encoded) {
  if (encoded.size() <= kMagicBytes || encoded[0] != 'P' || encoded[1] < '1' || encoded[1] > '6') return false;
  std::size_t at = kMagicBytes;
  while (at < encoded.size() && is_space(encoded[at])) ++at;
  return at > kMagicBytes && (at == encoded.size() || encoded[at] == '#' || is_digit(encoded[at]));
}

bool has_pnm_header(Bytes beginning) {
  PnmHeader header;
  return parse_header(beginning, header).empty();
}

PnmHeader read_pnm_header(Bytes encoded) {
  PnmHeader header;
  const std::string wrong = parse_header(encoded, header);
  if (!wrong.empty()) fail(ErrorKind::kBadSample, "the PNM data cannot be decoded: {}", wrong);
  return header;
}

}  // namespace stoker
