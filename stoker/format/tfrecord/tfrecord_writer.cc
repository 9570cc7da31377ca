#include "stoker/format/tfrecord/tfrecord_writer.h"

#include <array>
#include <protozero/pbf_writer.hpp>

#include "stoker/base/little_endian.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"

namespace stoker {
namespace {

// Numbers of fields in the messages that example.h lists.
constexpr protozero::pbf_tag_type kOnlyField = 1, kMapKey = 1, kMapValue = 2, kBytesList = 1, kFloatList = 2,
                                  kIntegerList = 3;

}  // namespace

void TfRecordWriter::write(Bytes bytes) {
  object_->write(bytes);
  hasher_.update(bytes);
  bytes_ += bytes.size();
}

std::uint64_t TfRecordWriter::add(Bytes data) {
  std::array<std::uint8_t, kTfRecordHeaderBytes> header;
  store_little_endian(header.data(), static_cast<std::uint64_t>(data.size()));
  store_little_endian(header.data() + 8, masked_crc32c(Bytes(header).first(8)));
  std::array<std::uint8_t, kTfRecordFooterBytes> footer;
  store_little_endian(footer.data(), masked_crc32c(data));
  write(header);
  const std::uint64_t offset = bytes_;
  write(data);
  write(footer);
  return offset;
}

void ExampleBuilder::add_feature(std::string_view name, std::string_view feature) {
  protozero::pbf_writer features(features_);
  protozero::pbf_writer entry(features, kOnlyField);
  entry.add_string(kMapKey, name.data(), name.size());
  entry.add_message(kMapValue, feature.data(), feature.size());
}

void ExampleBuilder::add_bytes(std::string_view name, const std::vector<Bytes>& values) {
  std::string feature;
  {
    protozero::pbf_writer writer(feature);
    protozero::pbf_writer list(writer, kBytesList);
    for (const Bytes value : values) list.add_bytes(kOnlyField, as_text(value).data(), value.size());
  }
  add_feature(name, feature);
}

void ExampleBuilder::add_floats(std::string_view name, const std::vector<float>& values) {
  std::string feature;
  {
    protozero::pbf_writer writer(feature);
    protozero::pbf_writer list(writer, kFloatList);
    list.add_packed_float(kOnlyField, values.begin(), values.end());
  }
  add_feature(name, feature);
}

void ExampleBuilder::add_packed_floats(std::string_view name, Bytes floats) {
  std::string feature;
  {
    protozero::pbf_writer writer(feature);
    protozero::pbf_writer list(writer, kFloatList);
    list.add_bytes(kOnlyField, as_text(floats).data(), floats.size());  // a packed field is framed as bytes are
  }
  add_feature(name, feature);
}

void ExampleBuilder::add_integers(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string feature;
  {
    protozero::pbf_writer writer(feature);
    protozero::pbf_writer list(writer, kIntegerList);
    list.add_packed_int64(kOnlyField, values.begin(), values.end());
  }
  add_feature(name, feature);
}

void ExampleBuilder::clear() {
  features_.clear();
  message_.clear();
}

Bytes ExampleBuilder::message() {
  message_.clear();
  protozero::pbf_writer writer(message_);
  writer.add_message(kOnlyField, features_.data(), features_.size());
  return as_bytes(message_);
}

}  // namespace stoker
