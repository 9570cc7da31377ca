#include "stoker/format/hdf5/hdf5_heap.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::string_view kCollection = "a collection of values";
constexpr std::size_t kAlignment = 8;

std::uint64_t load_number(Bytes bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << 8 * i;
  return value;
}

}  // namespace

Hdf5Value Hdf5Heap::find(Bytes reference, std::uint64_t element_bytes) {
  const std::size_t addresses = file_.address_bytes();
  const std::uint64_t count = load_number(reference.first(4));
  if (count == 0) return {};
  const std::uint64_t address = load_number(reference.subspan(4, addresses));
  const std::uint64_t number = load_number(reference.subspan(4 + addresses, 4));
  const Collection& values = collection(address);
  const auto found = std::lower_bound(values.begin(), values.end(), number,
                                      [](const Entry& entry, std::uint64_t wanted) { return entry.number < wanted; });
  if (found == values.end() || found->number != number) {
    fail(ErrorKind::kData, "'{}' is damaged: the collection of values at byte {} has no value {}", file_.name(),
         file_.place(address, 0, kCollection), number);
  }
  if (element_bytes > found->value.length || count > found->value.length / element_bytes) {
    fail(ErrorKind::kData, "'{}' is damaged: value {} of the collection at byte {} has {}, too few for {}",
         file_.name(), number, file_.place(address, 0, kCollection), byte_count(found->value.length),
         counted(count, "element"));
  }
  return {.offset = found->value.offset, .length = count * element_bytes};
}

Bytes Hdf5Heap::read(const Hdf5Value& value, std::size_t bytes_max) {
  return bytes_.read(value.offset, static_cast<std::size_t>(std::min<std::uint64_t>(value.length, bytes_max)));
}

const Hdf5Heap::Collection& Hdf5Heap::collection(std::uint64_t address) {
  const auto kept = kept_.find(address);
  if (kept != kept_.end()) return kept->second;
  Collection made = read_collection(address);
  while (!order_.empty() && kept_values_ + made.size() > kKeptValuesMax) {
    const auto oldest = kept_.find(order_.front());
    kept_values_ -= oldest->second.size() + 1;
    kept_.erase(oldest);
    order_.pop_front();
  }
  kept_values_ += made.size() + 1;
  order_.push_back(address);
  return kept_.emplace(address, std::move(made)).first->second;
}

Hdf5Heap::Collection Hdf5Heap::read_collection(std::uint64_t address) {
  const std::size_t lengths = file_.length_bytes(), head_bytes = 8 + lengths;
  const std::uint64_t begin = file_.place(address, head_bytes, kCollection);
  const auto damaged = [&](std::string_view why) {
    fail(ErrorKind::kData, "'{}' is damaged: {} at byte {}: {}", file_.name(), kCollection, begin, why);
  };
  const Bytes head = bytes_.read(begin, head_bytes);
  if (as_text(head.first(4)) != "GCOL" || head[4] != 1) damaged("it does not begin as one");
  const std::uint64_t bytes = load_number(head.subspan(8, lengths));
  file_.place(address, bytes, kCollection);
  Collection values;
  for (std::uint64_t at = head_bytes; at < bytes && bytes - at >= head_bytes;) {
    const Bytes entry = bytes_.read(begin + at, head_bytes);
    const auto number = load_little_endian<std::uint16_t>(entry.data());
    const std::uint64_t length = load_number(entry.subspan(8, lengths));
    if (number == 0) break;  // free
    at += head_bytes;
    if (length > bytes - at) damaged("a value reaches beyond it");
    if (values.size() == UINT16_MAX) damaged("it has more values than numbers");
    values.push_back({.number = number, .value = {.offset = begin + at, .length = length}});
    at += std::min(bytes - at, (length + kAlignment - 1) / kAlignment * kAlignment);
  }
  std::stable_sort(values.begin(), values.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  return values;
}

}  // namespace stoker
