#include "stoker/ops/array/array_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kAtOnce = 256;

struct HalfBits {
  std::uint16_t bits;
  operator float() const { return f32_from_f16(bits); }
};
struct BrainBits {
  std::uint16_t bits;
  operator float() const { return f32_from_bf16(bits); }
};

/// Calls `use` with a value of the type.
template <typename Use>
auto with_number_type(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8: return use(std::uint8_t{});
    case DType::kI8: return use(std::int8_t{});
    case DType::kU16: return use(std::uint16_t{});
    case DType::kI16: return use(std::int16_t{});
    case DType::kU32: return use(std::uint32_t{});
    case DType::kI32: return use(std::int32_t{});
    case DType::kU64: return use(std::uint64_t{});
    case DType::kI64: return use(std::int64_t{});
    case DType::kF16: return use(HalfBits{});
    case DType::kBF16: return use(BrainBits{});
    case DType::kF64: return use(double{});
    case DType::kF32: break;
  }
  return use(float{});
}

template <typename Number>
Number number_at(const std::uint8_t* at, bool is_big_endian) {
  std::uint8_t bytes[sizeof(Number)];
  std::memcpy(bytes, at, sizeof(Number));
  if (is_big_endian) std::reverse(std::begin(bytes), std::end(bytes));
  Number number;
  std::memcpy(&number, bytes, sizeof(Number));
  return number;
}

template <typename Number, typename To>
To as_number(Number number) {
  if constexpr (std::is_class_v<Number>) {
    return static_cast<To>(static_cast<float>(number));
  } else {
    return static_cast<To>(number);
  }
}

// The usual case by itself: compilers make vectors of it.
template <typename To>
void load_as(const StoredNumbers& stored, To* to) {
  with_number_type(stored.dtype, [&](auto type) {
    using Number = decltype(type);
    if (stored.stride == sizeof(Number) && !stored.is_big_endian) {
      for (std::size_t i = 0; i < stored.count; ++i) {
        Number number;
        std::memcpy(&number, stored.first + i * sizeof(Number), sizeof(Number));
        to[i] = as_number<Number, To>(number);
      }
      return;
    }
    for (std::size_t i = 0; i < stored.count; ++i) {
      to[i] = as_number<Number, To>(number_at<Number>(stored.first + i * stored.stride, stored.is_big_endian));
    }
  });
}

StoredNumbers some_of(const StoredNumbers& stored, std::size_t begin, std::size_t count) {
  StoredNumbers some = stored;
  some.first += begin * stored.stride;
  some.count = std::min(count, stored.count - begin);
  return some;
}

template <typename Wide>
bool holds(DType dtype, Wide number) {
  if (dtype == DType::kBool) return number == 0 || number == 1;
  return with_number_type(dtype, [number](auto type) {
    using Number = decltype(type);
    if constexpr (!std::is_integral_v<Number>) {
      return true;
    } else if constexpr (std::is_integral_v<Wide>) {
      const bool is_there = number >= 0 || std::is_signed_v<Number>;
      return is_there &&
             (sizeof(Number) == sizeof(Wide) || (number >= static_cast<Wide>(std::numeric_limits<Number>::min()) &&
                                                 number <= static_cast<Wide>(std::numeric_limits<Number>::max())));
    } else {
      // The bounds are powers of two, which doubles have.
      const double end = std::ldexp(1.0, std::numeric_limits<Number>::digits);
      return number == std::floor(number) && number < end && number >= (std::is_signed_v<Number> ? -end : 0.0);
    }
  });
}

template <typename Wide>
std::optional<double> store_whole(const Wide* numbers, std::size_t count, DType dtype, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!holds(dtype, numbers[i])) return static_cast<double>(numbers[i]);
  }
  with_number_type(dtype, [&](auto type) {
    using Number = decltype(type);
    if constexpr (std::is_integral_v<Number>) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto number = static_cast<Number>(numbers[i]);
        std::memcpy(to + i * sizeof(Number), &number, sizeof(Number));
      }
    }
  });
  return {};
}

template <typename Bits>
void copy_bits(const StoredNumbers& stored, std::uint8_t* to) {
  for (std::size_t i = 0; i < stored.count; ++i) {
    const auto bits = number_at<Bits>(stored.first + i * stored.stride, stored.is_big_endian);
    std::memcpy(to + i * sizeof(Bits), &bits, sizeof(Bits));
  }
}

// Those of the output's own type.
void copy_numbers(const StoredNumbers& stored, std::uint8_t* to) {
  const std::size_t item = size_of(stored.dtype);
  if (stored.stride == item && (!stored.is_big_endian || item == 1)) {
    std::memcpy(to, stored.first, stored.count * item);
    return;
  }
  switch (item) {
    case 1: return copy_bits<std::uint8_t>(stored, to);
    case 2: return copy_bits<std::uint16_t>(stored, to);
    case 4: return copy_bits<std::uint32_t>(stored, to);
    default: return copy_bits<std::uint64_t>(stored, to);
  }
}

/// By way of another type, some at a time.
template <typename Wide, typename Store>
std::optional<double> convert_by(const StoredNumbers& stored, const Store& store) {
  Wide room[kAtOnce];
  for (std::size_t begin = 0; begin < stored.count; begin += kAtOnce) {
    const StoredNumbers some = some_of(stored, begin, kAtOnce);
    load_as(some, room);
    if (const std::optional<double> strange = store(room, begin, some.count)) return strange;
  }
  return {};
}

// Beyond int64_t there is only u64.
std::optional<double> too_large_for_i64(const StoredNumbers& stored) {
  for (std::size_t i = 0; stored.dtype == DType::kU64 && i < stored.count; ++i) {
    const auto number = number_at<std::uint64_t>(stored.first + i * stored.stride, stored.is_big_endian);
    if (number > INT64_MAX) return static_cast<double>(number);
  }
  return {};
}

}  // namespace

void load_floats(const StoredNumbers& stored, float* to) { load_as(stored, to); }

void store_floats(const float* values, std::size_t count, DType dtype, std::uint8_t* to) {
  if (dtype == DType::kF32) {
    std::memcpy(to, values, count * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t bits = dtype == DType::kF16 ? f16_from_f32(values[i]) : bf16_from_f32(values[i]);
    std::memcpy(to + i * sizeof(bits), &bits, sizeof(bits));
  }
}

std::optional<double> convert_numbers(const StoredNumbers& stored, DType dtype, std::uint8_t* to) {
  const std::size_t item = size_of(dtype);
  if (stored.dtype == dtype && dtype != DType::kBool) {  // a byte may be no truth value
    copy_numbers(stored, to);
    return {};
  }
  if (dtype == DType::kF64) {
    return convert_by<double>(stored, [&](const double* numbers, std::size_t begin, std::size_t count) {
      std::memcpy(to + begin * item, numbers, count * item);
      return std::optional<double>();
    });
  }
  if (is_float(dtype)) {
    return convert_by<float>(stored, [&](const float* numbers, std::size_t begin, std::size_t count) {
      store_floats(numbers, count, dtype, to + begin * item);
      return std::optional<double>();
    });
  }
  const auto store = [&](const auto* numbers, std::size_t begin, std::size_t count) {
    return store_whole(numbers, count, dtype, to + begin * item);
  };
  if (is_float(stored.dtype)) return convert_by<double>(stored, store);
  if (const std::optional<double> strange = too_large_for_i64(stored)) return strange;
  return convert_by<std::int64_t>(stored, store);
}

}  // namespace stoker
