#include "stoker/format/litdata/litdata_nested.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/field_names.h"

namespace stoker {
namespace {

constexpr int kNestedDepthMax = 64;
// Below it a byte is a tag; JSON begins above.
constexpr std::uint8_t kNestedTagsEnd = 0x20;

enum NestedTag : std::uint8_t {
  kNestedJson = 0,
  kNestedTexts = 1,
  kNestedIntegers = 2,
  kNestedFloats = 3,
  kNestedTruths = 4,
  kNestedDictionary = 5,
  kNestedRecords = 6,
  kNestedText = 7,
  kNestedInteger = 8,
  kNestedFloat = 9,
  kNestedTruth = 10,
  kNestedNone = 11,
};
enum RecordTag : std::uint8_t {
  kRecordNone = 0x10,
  kRecordText = 0x11,
  kRecordInteger = 0x12,
  kRecordFloat = 0x13,
  kRecordTruth = 0x14,
};

class NestedReader {
 public:
  explicit NestedReader(Bytes bytes) : rest_(bytes) {}

  void read(const std::string& name, int depth) {
    if (depth > kNestedDepthMax) fail(ErrorKind::kData, "'{}' is more than {} deep", name, kNestedDepthMax);
    const std::uint8_t tag = take(1)[0];
    switch (tag) {
      case kNestedNone: return;
      case kNestedText: return add_text(name);
      case kNestedInteger: return add_integer(name);
      case kNestedFloat: return add(name, take(sizeof(double)), "f64");
      case kNestedTruth: return add_truth(name);
      case kNestedJson: return add(name, take(number()), "json");
      case kNestedIntegers: return add_list(name, 8, "i64");
      case kNestedFloats: return add_list(name, 8, "f64");
      case kNestedTruths: return add_list(name, 1, "u8");
      case kNestedTexts: {
        const std::uint32_t count = number();
        for (std::uint32_t i = 0; i < count; ++i) add_text(fmt::format("{}.{}", name, i));
        return;
      }
      case kNestedDictionary: {
        const std::uint32_t count = number();
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::string_view key = as_text(take(number()));
          read(checked_name(fmt::format("{}.{}", name, key)), depth + 1);
        }
        return;
      }
      case kNestedRecords: return read_records(name);
      default: fail(ErrorKind::kData, "'{}' has the unknown tag {}", name, tag);
    }
  }

  std::vector<LitDataNestedValue> take_values() {
    if (!rest_.empty()) fail(ErrorKind::kData, "{} follow its last value", byte_count(rest_.size()));
    return std::move(values_);
  }

 private:
  Bytes take(std::uint64_t count) {
    if (count > rest_.size()) {
      fail(ErrorKind::kData, "it ends within a value of {}, {} of which are there", byte_count(count), rest_.size());
    }
    const Bytes taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::uint32_t number() { return load_little_endian<std::uint32_t>(take(sizeof(std::uint32_t)).data()); }

  void read_records(const std::string& name) {
    const std::uint32_t records = number(), count = number();
    if (count == 0) fail(ErrorKind::kData, "'{}' has records without keys", name);
    std::vector<std::string_view> keys;
    for (std::uint32_t i = 0; i < count; ++i) keys.push_back(as_text(take(number())));
    for (std::uint32_t record = 0; record < records; ++record) {
      for (const std::string_view key : keys) add_of_record(name, record, key);
    }
  }

  void add_of_record(std::string_view of, std::uint32_t record, std::string_view key) {
    const std::uint8_t tag = take(1)[0];
    if (tag == kRecordNone) return;
    const std::string name = checked_name(fmt::format("{}.{}.{}", of, record, key));
    switch (tag) {
      case kRecordText: return add_text(name);
      case kRecordInteger: return add_integer(name);
      case kRecordFloat: return add(name, take(sizeof(double)), "f64");
      case kRecordTruth: return add_truth(name);
      default: fail(ErrorKind::kData, "'{}' has the unknown tag {}", name, tag);
    }
  }

  void add(std::string name, Bytes bytes, std::string_view ending) {
    if (values_.size() > kLitDataNestedMax) return;
    values_.push_back({.name = std::move(name), .bytes = bytes, .ending = ending});
  }
  void add_list(const std::string& name, std::uint64_t element_bytes, std::string_view ending) {
    const Bytes elements = take(element_bytes * number());
    if (!elements.empty()) add(name, elements, ending);
  }
  void add_text(std::string name) {
    const Bytes text = take(number());
    if (values_.size() > kLitDataNestedMax) return;
    values_.push_back({.name = std::move(name), .bytes = text, .is_text = true});
  }
  void add_integer(std::string name) {
    const Bytes bytes = take(sizeof(std::int64_t));
    add_number(std::move(name), bytes, "i64", load_little_endian<std::int64_t>(bytes.data()));
  }
  void add_truth(std::string name) {
    const Bytes bytes = take(1);
    add_number(std::move(name), bytes, "u8", bytes[0] != 0 ? 1 : 0);
  }
  void add_number(std::string name, Bytes bytes, std::string_view ending, std::int64_t integer) {
    if (values_.size() > kLitDataNestedMax) return;
    values_.push_back({.name = std::move(name), .bytes = bytes, .ending = ending, .integer = integer});
  }

  Bytes rest_;
  std::vector<LitDataNestedValue> values_;
};

}  // namespace

std::vector<LitDataNestedValue> nested_litdata_values(std::string_view name, Bytes bytes) {
  if (bytes.empty() || bytes[0] > kNestedTagsEnd) {
    return {{.name = std::string(name), .bytes = bytes, .ending = "json"}};
  }
  NestedReader reader(bytes);
  reader.read(std::string(name), 0);
  return reader.take_values();
}

}  // namespace stoker
