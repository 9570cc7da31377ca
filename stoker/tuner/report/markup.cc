#include "stoker/tuner/report/markup.h"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stoker {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How many bytes of the text's beginning are one character that XML permits; 0: none is.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  std::uint32_t character = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    character = character << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  const bool permitted =
      character >= kLeast[bytes] && !surrogate && character != 0xFFFE && character != 0xFFFF && character <= 0x10FFFF;
  return permitted ? bytes : 0;
}

}  // namespace

std::string markup_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    switch (text.front()) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += bytes > 0 ? text.substr(0, bytes) : kReplacement;
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return out;
}

std::string Markup::number(double value) {
  const double tenths = std::round(10 * value);
  // No "-0": and no more digits than a whole number needs.
  return fmt::format("{}", tenths == 0 ? 0 : tenths / 10);
}

void Markup::tag(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const Attribute& attribute : attributes) {
    out_ += fmt::format(" {}=\"{}\"", attribute.name, markup_escaped(attribute.value));
  }
}

void Markup::open(std::string_view name, Attributes attributes) {
  tag(name, attributes);
  out_ += '>';
  open_.emplace_back(name);
}

void Markup::close() {
  assert(!open_.empty());
  out_ += fmt::format("</{}>", open_.back());
  open_.pop_back();
}

void Markup::text(std::string_view text) { out_ += markup_escaped(text); }

void Markup::element(std::string_view name, Attributes attributes, std::string_view text) {
  open(name, attributes);
  this->text(text);
  close();
}

void Markup::empty(std::string_view name, Attributes attributes) {
  tag(name, attributes);
  out_ += "/>";
}

std::string Markup::take() {
  assert(open_.empty());
  return std::move(out_);
}

}  // namespace stoker
