#include "stoker/pack/planned_rows.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

// Rows are messages of Protocol Buffers, which carry their own lengths.
constexpr protozero::pbf_tag_type kRow = 1;
enum RowTag : protozero::pbf_tag_type { kNumber = 1, kLabel = 2, kRelabelled = 3, kSource = 4, kKey = 5, kField = 6 };
enum FieldTag : protozero::pbf_tag_type { kName = 1, kLength = 2, kPart = 3 };

constexpr std::uint32_t number_tag(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes_tag(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}

std::string_view view_of(const protozero::data_view& view) { return {view.data(), view.size()}; }

[[noreturn]] void fail_damaged() { fail(ErrorKind::kData, "the rows of a task of the plan are damaged; make it anew"); }

/// What `read` does, where a message that is none is damage.
template <typename Read>
void refuse_damaged(const Read& read) {
  try {
    read();
  } catch (const protozero::exception&) {
    fail_damaged();
  }
}

}  // namespace

std::uint32_t RowFreezer::number_of(std::string_view field) {
  std::vector<std::string>& names = data_.field_names;
  const auto number = static_cast<std::uint32_t>(std::find(names.begin(), names.end(), field) - names.begin());
  if (number == names.size()) names.emplace_back(field);
  return number;
}

void RowFreezer::add(const SampleRow& row, std::int64_t number, std::int64_t label, std::size_t source) {
  protozero::pbf_writer rows(bytes_);
  protozero::pbf_writer message(rows, kRow);
  message.add_int64(kNumber, number);
  message.add_sint64(kLabel, label);
  if (row.relabelled) message.add_bool(kRelabelled, true);
  if (!whole_) return;
  message.add_uint64(kSource, source);
  message.add_bytes(kKey, row.key);
  for (const SampleField& field : row.fields) {
    const std::uint32_t name = number_of(field.name);
    protozero::pbf_writer its(message, kField);
    its.add_uint32(kName, name);
    its.add_uint64(kLength, field.length);
    its.add_bytes(kPart, field.part.data(), field.part.size());
  }
}

std::string RowFreezer::take() { return std::exchange(bytes_, {}); }

PlannedRows::PlannedRows(const PlannedData& data, const std::string& frozen) : data_(data) {
  refuse_damaged([&] {
    protozero::pbf_reader rows(frozen);
    while (rows.next(kRow, protozero::pbf_wire_type::length_delimited)) {
      const std::string_view message = messages_.emplace_back(view_of(rows.get_view()));
      protozero::pbf_reader row(message.data(), message.size());
      if (!row.next() || row.tag_and_type() != number_tag(kNumber)) fail_damaged();
      const std::int64_t number = numbers_.emplace_back(row.get_int64());
      if (number < 0 || (data.samples && number >= data.samples->size())) fail_damaged();
    }
  });
}

bool PlannedRows::next(SampleRow& row) {
  if (next_ == messages_.size()) return false;
  const std::string_view message = messages_[next_];
  if (data_.samples) {
    data_.samples->read(numbers_[next_], row);
  } else {
    row.clear();
  }
  ++next_;
  refuse_damaged([&] { read_message(message, row); });
  if (!data_.image.empty()) row.choose_image(data_.image);
  fingerprint_.add(row);
  return true;
}

void PlannedRows::read_message(std::string_view message, SampleRow& row) const {
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case number_tag(kNumber): reader.skip(); break;  // was read before
      case number_tag(kLabel): row.label = reader.get_sint64(); break;
      case number_tag(kRelabelled): row.relabelled = reader.get_bool(); break;
      case number_tag(kSource): {
        const std::uint64_t source = reader.get_uint64();
        if (source >= data_.sources.size()) fail_damaged();
        row.source = data_.sources[source].get();
        break;
      }
      case bytes_tag(kKey): row.key = view_of(reader.get_view()); break;
      case bytes_tag(kField): read_field(view_of(reader.get_view()), row.fields.emplace_back()); break;
      default: fail_damaged();
    }
  }
  if (row.source == nullptr) fail_damaged();
}

void PlannedRows::read_field(std::string_view message, SampleField& field) const {
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case number_tag(kName): {
        const std::uint32_t name = reader.get_uint32();
        if (name >= data_.field_names.size()) fail_damaged();
        field.name = data_.field_names[name];
        break;
      }
      case number_tag(kLength): field.length = reader.get_uint64(); break;
      case bytes_tag(kPart): field.part = view_of(reader.get_view()); break;
      default: fail_damaged();
    }
  }
}

}  // namespace stoker
