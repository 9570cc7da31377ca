#include "stoker/format/field_texts.h"

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <type_traits>
#include <utility>
#include <variant>

#include "stoker/base/error.h"
#include "stoker/base/pending.h"
#include "stoker/base/trimmed.h"
#include "stoker/base/units.h"
#include "stoker/format/dataset.h"
#include "stoker/storage/source.h"
#include "stoker/tensor/field_number.h"

namespace stoker {
namespace {

constexpr std::size_t kReadsAtOnce = 512;

using LabelText = std::optional<std::string>;

constexpr std::string_view kVarintEnding = ".varint";

template <typename Number>
LabelText whole_text(Number number) {
  if constexpr (std::is_integral_v<Number>) {
    return std::in_range<std::int64_t>(number) ? LabelText(fmt::to_string(number)) : std::nullopt;
  } else {
    constexpr Number kWholeMax = static_cast<Number>(std::uint64_t{1} << 53);
    if (!(std::abs(number) <= kWholeMax) || std::trunc(number) != number) return std::nullopt;
    return fmt::to_string(static_cast<std::int64_t>(number));
  }
}

/// One of protobuf's.
LabelText varint_text(Bytes bytes) {
  constexpr unsigned kBits = 7;
  constexpr std::size_t kVarintBytesMax = 10;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool ends = bytes[i] >> kBits == 0;
    if (i >= kVarintBytesMax || ends != (i + 1 == bytes.size())) return std::nullopt;
    number |= std::uint64_t{bytes[i] & 0x7fu} << (kBits * i);
  }
  return fmt::to_string(static_cast<std::int64_t>(number));
}

bool is_number_field(std::string_view name) { return name.ends_with(kVarintEnding) || number_type_in_name(name); }

/// Nothing for what is no label.
LabelText text_of_label(std::string_view field, Bytes bytes) {
  if (field.ends_with(kVarintEnding)) return varint_text(bytes);
  if (const std::optional<DType> dtype = number_type_in_name(field)) {
    if (bytes.size() != size_of(*dtype)) return std::nullopt;
    return std::visit([](auto number) { return whole_text(number); }, load_field_number(*dtype, bytes.data()));
  }
  return std::string(trimmed(as_text(bytes)));
}

/// Whether that is how fields of numbers end whose names are one word longer.
bool is_number_ending(std::string_view ending) {
  return ending == kVarintEnding || (ending.rfind('.') == 0 && number_type_in_name(ending));
}

}  // namespace

const SampleField* label_field(const SampleRow& row, std::string_view name) {
  if (const SampleField* const field = row.field(name)) return field;
  for (const SampleField& field : row.fields) {
    if (field.name.starts_with(name) && is_number_ending(field.name.substr(name.size()))) return &field;
  }
  return nullptr;
}

void FieldTexts::add(const SampleRow& row) {
  found_.texts.emplace_back();
  const SampleField* const field = label_field(row, name_);
  if (!field || field->length == 0) return;
  if (field->length > kBytesMax) {
    fail(ErrorKind::kData, "{}: its field '{}' has {}, so it is not a label", describe(row), field->name,
         byte_count(field->length));
  }
  queued_.push_back(
      {found_.texts.size() - 1, *field, row.source, describe(row), std::vector<std::uint8_t>(field->length), {}});
  if (queued_.size() == kReadsAtOnce) read_queued();
}

void FieldTexts::read_queued() {
  std::deque<ReadRequest> requests;
  {
    Pending reads;
    for (Queued& queued : queued_) {
      ReadRequest& request = requests.emplace_back();
      request.part = queued.field.part;
      request.offset = queued.field.offset;
      queued.into = queued.bytes;
      request.into = Pieces(&queued.into, 1);
      start_pending(*queued.source, request, reads);
    }
  }
  for (std::size_t i = 0; i < queued_.size(); ++i) {
    const Queued& queued = queued_[i];
    if (requests[i].error) std::rethrow_exception(requests[i].error);
    const LabelText text = text_of_label(queued.field.name, queued.bytes);
    if (!text) {
      fail(ErrorKind::kData, "{}: its field '{}' is not one whole number below 2^63, so it is not a label",
           queued.place, queued.field.name);
    }
    if (!is_number_field(queued.field.name)) found_.are_numbers = false;
    if (!text->empty()) found_.texts[queued.sample] = *text;
  }
  queued_.clear();
}

LabelTexts FieldTexts::take() {
  read_queued();
  return std::exchange(found_, {.texts = {}, .are_numbers = true});
}

}  // namespace stoker
