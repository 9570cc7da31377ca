#include "stoker/storage/packed_values.h"

#include <cstring>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/storage/packed_integers.h"

namespace stoker {
namespace {

/// `kWidth`: of a value, where the compiler shall know it, else 0.
template <std::size_t kWidth>
void name_values(RunLengthReader numbers, std::size_t some_width, Bytes dictionary, MutableBytes into) {
  const std::size_t width = kWidth > 0 ? kWidth : some_width;
  const std::size_t known = dictionary.size() / width;
  for (std::size_t at = 0; at < into.size(); at += width) {
    const std::uint32_t number = numbers.next();
    if (number >= known) fail(ErrorKind::kData, "it names value {} of a dictionary that has {}", number, known);
    std::memcpy(into.data() + at, dictionary.data() + number * width, width);
  }
}

void unpack_named(Bytes packed, std::size_t width, Bytes dictionary, MutableBytes into) {
  if (packed.empty()) fail(ErrorKind::kData, "it ends before its last value");
  if (packed[0] > RunLengthReader::kBitsMax) fail(ErrorKind::kData, "it has numbers of {} bits", packed[0]);
  const RunLengthReader numbers(packed.subspan(1), packed[0]);
  if (width == 4) return name_values<4>(numbers, width, dictionary, into);
  if (width == 8) return name_values<8>(numbers, width, dictionary, into);
  name_values<0>(numbers, width, dictionary, into);
}

template <typename Integer>
void unpack_deltas(Bytes packed, MutableBytes into) {
  DeltaReader deltas(packed);
  const std::size_t count = into.size() / sizeof(Integer);
  if (deltas.count() < count) fail(ErrorKind::kData, "it has {} of {} values", deltas.count(), count);
  for (std::size_t i = 0; i < count; ++i) {
    store_little_endian(into.data() + i * sizeof(Integer), static_cast<Integer>(deltas.next()));
  }
}

}  // namespace

void unpack_values(const PackedValues& packed, Bytes block, Bytes dictionary, MutableBytes into) {
  if (into.empty()) return;
  if (packed.skipped > block.size()) fail(ErrorKind::kData, "it ends before its values");
  const Bytes values = block.subspan(static_cast<std::size_t>(packed.skipped));
  switch (packed.coding) {
    case PackedValues::Coding::kNamed: return unpack_named(values, packed.width, dictionary, into);
    case PackedValues::Coding::kDeltas:
      return packed.width == sizeof(std::int32_t) ? unpack_deltas<std::int32_t>(values, into)
                                                  : unpack_deltas<std::int64_t>(values, into);
    case PackedValues::Coding::kSplit:
      if (values.size() != into.size()) fail(ErrorKind::kData, "it has {} bytes of {}", values.size(), into.size());
      return unshuffle(values, packed.width, into);
  }
  fail(ErrorKind::kData, "its values are packed in a way that is not known");
}

}  // namespace stoker
