#include "stoker/pack/sample_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/base/words.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/json_text.h"
#include "stoker/format/member_name.h"
#include "stoker/storage/source.h"
#include "stoker/tensor/field_number.h"

namespace stoker {
namespace {

constexpr Word<FieldKind> kFieldKinds[] = {{FieldKind::kImage, "image"},
                                           {FieldKind::kJson, "json"},
                                           {FieldKind::kText, "text"},
                                           {FieldKind::kNumbers, "numbers"},
                                           {FieldKind::kBytes, "bytes"}};

// An image's facts need all of its bytes; of anything else the beginning is enough.
constexpr std::uint64_t kImageBytesMax = std::uint64_t{64} << 20, kOtherBytesMax = std::uint64_t{1} << 20;
constexpr std::size_t kShownBytes = 100, kShownNumbers = 8, kShownHexBytes = 16;

/// Takes one of protobuf's varints off the front; false if there is none.
bool take_varint(Bytes& bytes, std::uint64_t& number) {
  constexpr unsigned kBits = 7, kBytesMax = 10;
  number = 0;
  for (unsigned i = 0; i < bytes.size() && i < kBytesMax; ++i) {
    number |= std::uint64_t{bytes[i] & 0x7fu} << (kBits * i);
    if (bytes[i] >> kBits != 0) continue;
    bytes = bytes.subspan(i + 1);
    return true;
  }
  return false;
}

/// Whether its name says that it holds numbers; then the first of them are shown.
bool describe_numbers(Bytes bytes, FieldDescription& field) {
  const std::optional<DType> dtype = number_type_in_name(field.name);
  if (!dtype && !field.name.ends_with(".varint")) return false;
  if (dtype && field.bytes % size_of(*dtype) != 0) return false;
  Bytes left = bytes;
  for (std::size_t i = 0; i < kShownNumbers && !left.empty(); ++i) {
    std::string text;
    if (dtype) {
      if (left.size() < size_of(*dtype)) break;
      text = std::visit([](auto number) { return fmt::to_string(number); }, load_field_number(*dtype, left.data()));
      left = left.subspan(size_of(*dtype));
    } else {
      std::uint64_t number = 0;
      if (!take_varint(left, number)) return false;
      text = fmt::to_string(static_cast<std::int64_t>(number));
    }
    field.shown += field.shown.empty() ? text : ", " + text;
  }
  field.kind = FieldKind::kNumbers;
  field.is_shortened = !left.empty();
  return true;
}

/// Without what was cut off in the middle of a character.
std::string_view whole_characters(std::string_view text, std::size_t length) {
  if (text.size() <= length) return text;
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  while (length > 0 && continues(text[length])) --length;
  return text.substr(0, length);
}

/// Texts have few control characters, such as a terminal's escape sequences, and no zeros.
bool is_binary(std::string_view text) {
  constexpr std::ptrdiff_t kOneIn = 8;
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && std::string_view("\t\n\r\f").find(c) == std::string_view::npos;
  };
  if (text.find('\0') != std::string_view::npos) return true;
  return std::count_if(text.begin(), text.end(), is_control) * kOneIn > static_cast<std::ptrdiff_t>(text.size());
}

bool describe_text(Bytes bytes, FieldDescription& field) {
  constexpr std::size_t kCharacterBytesMax = 4;
  std::string text(as_text(bytes));
  if (text.size() < field.bytes) text = whole_characters(text, text.size() - kCharacterBytesMax);
  if (is_binary(text) || !is_utf8(text)) return false;
  const std::size_t begin = text.find_first_not_of(" \t\n\r");
  const bool may_be_json = begin != std::string::npos && (text[begin] == '{' || text[begin] == '[');
  const bool is_json =
      (may_be_json || field.name.ends_with("json")) && text.size() == field.bytes && nlohmann::json::accept(text);
  field.kind = is_json ? FieldKind::kJson : FieldKind::kText;
  const std::string_view beginning = whole_characters(text, kShownBytes);
  field.shown = escaped(beginning);
  field.is_shortened = beginning.size() < field.bytes;
  return true;
}

void describe_bytes(Bytes bytes, FieldDescription& field) {
  const Bytes shown = bytes.first(std::min(bytes.size(), kShownHexBytes));
  for (const std::uint8_t byte : shown) field.shown += fmt::format("{}{:02x}", field.shown.empty() ? "" : " ", byte);
  field.is_shortened = shown.size() < field.bytes;
}

bool describe_image(Bytes bytes, ImageDecoder& decoder, FieldDescription& field) {
  if (bytes.size() < field.bytes) return false;
  try {
    field.image = decoder.read_facts(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadSample && error.kind() != ErrorKind::kLimit) throw;
    return false;
  }
  field.kind = FieldKind::kImage;
  return true;
}

}  // namespace

std::string_view to_string(FieldKind kind) { return word_of(kFieldKinds, kind); }

SampleDescription describe_sample(const SampleRow& row, const Location& shard, const Stores& stores,
                                  const DecodeLimits& limits) {
  SampleDescription sample;
  sample.key = row.key;
  sample.label = row.label;
  const SampleField* const image = row.image_field();
  if (image) sample.image = image->name;
  const std::optional<ObjectFacts> facts = stores.find(shard);
  AnyImageDecoder decoder(limits);
  std::vector<std::uint8_t> bytes;
  for (const SampleField& field : row.fields) {
    FieldDescription& described = sample.fields.emplace_back();
    described.name = field.name;
    described.bytes = field.length;
    described.place = field.part.empty() ? shard.shown() : (shard / field.part).shown();
    const bool is_range_of_file = !field.part.empty() || !facts || field.offset + field.length <= facts->size;
    if (is_range_of_file) described.offset = field.offset;
    bytes.resize(std::min(field.length, kImageBytesMax));
    read_fully(*row.source, field.offset, bytes, field.part);
    const bool may_be_image = &field == image || is_image_field_name(field.name) || !extension_of_bytes(bytes).empty();
    if (may_be_image && describe_image(bytes, decoder, described)) continue;
    const Bytes beginning = Bytes(bytes).first(std::min<std::size_t>(bytes.size(), kOtherBytesMax));
    if (!describe_numbers(beginning, described) && !describe_text(beginning, described)) {
      describe_bytes(beginning, described);
    }
  }
  return sample;
}

}  // namespace stoker
