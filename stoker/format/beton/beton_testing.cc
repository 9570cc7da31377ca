#include "stoker/format/beton/beton_testing.h"

#include <fmt/format.h>

#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

using BetonBytes = std::vector<std::uint8_t>;

void append_padded(BetonBytes& bytes, const std::string& text, std::size_t length) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.resize(bytes.size() + length - text.size());
}

std::string described_array(const TestBetonField& field) {
  BetonBytes arguments;
  for (const std::uint64_t axis : field.shape) append_little_endian(arguments, axis);
  arguments.resize(32 * sizeof(std::uint64_t));
  const std::string type = fmt::format(R"([["", "{}"]])", field.numpy_type);
  append_little_endian(arguments, std::uint64_t{type.size()});
  return std::string(as_text(arguments)) + type;
}

bool is_number(const TestBetonField& field) {
  return field.type == BetonType::kFloat || field.type == BetonType::kInteger;
}

bool has_parts(const TestBetonField& field) {
  return field.type == BetonType::kImage || field.type == BetonType::kBytes || field.type == BetonType::kJson;
}

void align(BetonBytes& bytes, std::size_t begin, std::size_t to) {
  while ((bytes.size() - begin) % to != 0) bytes.push_back(0);
}

/// Its values have the offsets `at`.
void append_metadata(BetonBytes& bytes, const std::vector<TestBetonField>& fields, const TestBetonSample& sample,
                     const std::vector<std::uint64_t>& at) {
  const std::size_t begin = bytes.size();
  std::size_t alignment = 1;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const TestBetonValue& value = sample[i];
    if (!has_parts(fields[i])) align(bytes, begin, alignment = 8);
    if (is_number(fields[i])) {
      bytes.insert(bytes.end(), value.bytes.begin(), value.bytes.end());
      continue;
    }
    if (fields[i].type == BetonType::kImage) {
      bytes.push_back(value.is_raw ? 1 : 0);
      append_little_endian(bytes, value.width);
      append_little_endian(bytes, value.height);
    }
    append_little_endian(bytes, at[i]);
    if (fields[i].type == BetonType::kBytes || fields[i].type == BetonType::kJson) {
      append_little_endian(bytes, std::uint64_t{value.bytes.size()});
    }
  }
  align(bytes, begin, alignment);
}

}  // namespace

std::string beton_int(std::int64_t number) {
  BetonBytes bytes;
  append_little_endian(bytes, number);
  return std::string(as_text(bytes));
}

std::string beton_file(const std::vector<TestBetonField>& fields, const std::vector<TestBetonSample>& samples,
                       std::uint32_t page_bytes) {
  BetonBytes file(24), allocations;
  for (const TestBetonField& field : fields) {
    file.push_back(static_cast<std::uint8_t>(field.type));
    append_padded(file, field.name, 16);
    append_padded(file, field.numpy_type.empty() ? "" : described_array(field), 1024);
  }
  BetonBytes metadata;
  std::size_t metadata_bytes = 0;
  if (!samples.empty()) append_metadata(metadata, fields, samples.front(), std::vector<std::uint64_t>(fields.size()));
  metadata_bytes = metadata.size();
  metadata.clear();

  BetonBytes pages;
  const std::size_t pages_at =
      (file.size() + metadata_bytes * samples.size() + page_bytes - 1) / page_bytes * page_bytes;
  for (std::size_t number = 0; number < samples.size(); ++number) {
    std::size_t needed = 0;
    for (std::size_t i = 0; i < fields.size(); ++i)
      needed += is_number(fields[i]) ? 0 : samples[number][i].bytes.size();
    if (pages.size() % page_bytes + needed > page_bytes) align(pages, 0, page_bytes);
    std::vector<std::uint64_t> at;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      at.push_back(pages_at + pages.size());
      if (is_number(fields[i])) continue;
      const std::string& bytes = samples[number][i].bytes;
      for (const std::uint64_t part : {std::uint64_t{number}, at.back(), std::uint64_t{bytes.size()}}) {
        append_little_endian(allocations, part);
      }
      pages.insert(pages.end(), bytes.begin(), bytes.end());
    }
    append_metadata(metadata, fields, samples[number], at);
  }
  align(pages, 0, page_bytes);
  file.insert(file.end(), metadata.begin(), metadata.end());
  file.resize(pages_at);
  file.insert(file.end(), pages.begin(), pages.end());
  store_little_endian(file.data(), std::uint16_t{2});
  store_little_endian(file.data() + 2, static_cast<std::uint16_t>(fields.size()));
  store_little_endian(file.data() + 4, page_bytes);
  store_little_endian(file.data() + 8, std::uint64_t{samples.size()});
  store_little_endian(file.data() + 16, std::uint64_t{file.size()});
  file.insert(file.end(), allocations.begin(), allocations.end());
  return std::string(as_text(file));
}

}  // namespace stoker
