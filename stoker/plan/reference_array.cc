#include "stoker/plan/reference_array.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/ops/array/array_meaning.h"
#include "stoker/ops/array/array_place.h"
#include "stoker/plan/field_array.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

/// What a stored number is: whole, or not. (A float32 comes from either by one rounding.)
struct PlainNumber {
  bool is_whole = true, is_negative = false;
  std::uint64_t magnitude = 0;
  double real = 0;
};

std::uint64_t bits_at(const std::uint8_t* at, std::size_t bytes, bool is_big_endian) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes; ++i) bits = bits << 8 | at[is_big_endian ? i : bytes - 1 - i];
  return bits;
}

PlainNumber plain_number(const std::uint8_t* at, DType dtype, bool is_big_endian) {
  const std::uint64_t bits = bits_at(at, size_of(dtype), is_big_endian);
  PlainNumber number;
  if (is_float(dtype)) {
    number.is_whole = false;
    if (dtype == DType::kF64) std::memcpy(&number.real, &bits, sizeof(bits));
    if (dtype == DType::kF32) number.real = static_cast<double>(f32_of_bits(static_cast<std::uint32_t>(bits)));
    if (dtype == DType::kF16) number.real = static_cast<double>(f32_from_f16(static_cast<std::uint16_t>(bits)));
    return number;
  }
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(dtype));
  number.magnitude = bits;
  if (is_signed(dtype)) {
    const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
    number.is_negative = value < 0;
    number.magnitude = number.is_negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  }
  return number;
}

template <typename Float>
Float as_float(const PlainNumber& number) {
  if (!number.is_whole) return static_cast<Float>(number.real);
  const auto magnitude = static_cast<Float>(number.magnitude);
  return number.is_negative ? -magnitude : magnitude;
}

// As whole numbers of a type are: of up to `bits` bits without the sign.
std::optional<std::uint64_t> whole_bits(PlainNumber number, DType dtype) {
  const unsigned digits =
      dtype == DType::kBool ? 1 : 8 * static_cast<unsigned>(size_of(dtype)) - (is_signed(dtype) ? 1 : 0);
  if (!number.is_whole) {
    if (number.real != std::trunc(number.real) || std::abs(number.real) > 0x1p64) return {};
    if (std::abs(number.real) == 0x1p64) return {};
    number.is_negative = number.real < 0;
    number.magnitude = static_cast<std::uint64_t>(std::abs(number.real));
  }
  const std::uint64_t most = digits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << digits) - 1;
  if (number.is_negative && (!is_signed(dtype) || number.magnitude > most + 1)) return {};
  if (!number.is_negative && number.magnitude > most) return {};
  return number.is_negative ? 0 - number.magnitude : number.magnitude;
}

void store_number(const PlainNumber& number, const ArrayProgram& program, std::uint8_t* to) {
  if (program.dtype == DType::kF64) {
    const auto real = as_float<double>(number);
    std::memcpy(to, &real, sizeof(real));
  } else if (is_float(program.dtype)) {
    store_rounded(as_float<float>(number), program.dtype, to, 0);
  } else {
    const std::optional<std::uint64_t> bits = whole_bits(number, program.dtype);
    if (!bits) fail(ErrorKind::kBadSample, "a number of '{}' does not fit into the output", program.field);
    std::memcpy(to, &*bits, size_of(program.dtype));
  }
}

/// The places of an output, one after another, and where each is stored.
class Places {
 public:
  explicit Places(const ArrayBox& box) : box_(box), at_(box.rank, 0) {}

  /// Along the first axis.
  std::size_t channel() const { return at_.empty() ? 0 : static_cast<std::size_t>(at_.front()); }
  /// In the array; nothing for padding.
  std::optional<std::uint64_t> offset() const {
    std::uint64_t offset = 0;
    for (std::size_t axis = 0; axis < box_.rank; ++axis) {
      const std::int64_t source = box_.axes[axis].source_of(at_[axis]);
      if (source < 0) return {};
      offset += static_cast<std::uint64_t>(source) * box_.axes[axis].stride;
    }
    return offset;
  }
  void next() {
    for (std::size_t axis = box_.rank; axis-- > 0;) {
      if (++at_[axis] < box_.axes[axis].size) return;
      at_[axis] = 0;
    }
  }

 private:
  const ArrayBox& box_;
  std::vector<std::int64_t> at_;
};

void standardize(const ArrayStep& step, const ArrayBox& box, std::vector<float>& numbers) {
  const std::size_t channels = step.by_channel && box.rank > 0 ? static_cast<std::size_t>(box.axes[0].size) : 1;
  std::vector<ArrayStatistics> statistics(channels);
  Places places(box);
  for (const float number : numbers) {
    statistics[step.by_channel ? places.channel() : 0].add(number);
    places.next();
  }
  Places again(box);
  for (float& number : numbers) {
    number = ArrayScale::of(statistics[step.by_channel ? again.channel() : 0]).apply(number);
    again.next();
  }
}

void take_step(const DrawnArrayStep& step, const ArrayBox& box, std::vector<float>& numbers) {
  if (step.kind == ArrayStep::Kind::kStandardize) return standardize(*step.step, box, numbers);
  Places places(box);
  for (std::size_t i = 0; i < numbers.size(); ++i, places.next()) {
    float& number = numbers[i];
    if (step.kind == ArrayStep::Kind::kClip) number = clipped(number, step.a, step.b);
    if (step.kind == ArrayStep::Kind::kScale) number = ArrayScale::of(*step.step, places.channel()).apply(number);
    if (step.kind == ArrayStep::Kind::kFactor) number = number * step.a;
    if (step.kind == ArrayStep::Kind::kNoise) number = with_noise(step, number, static_cast<std::int64_t>(i));
  }
}

std::optional<ArrayPoint> reference_point_around(const ArrayProgram& program, const SampleInput& sample) {
  std::optional<Random> random = draw_around(program, sample.draw);
  if (!random) return {};
  const int field = program.crop->around_field;
  const ArrayLayout layout = array_layout_of(sample, field, program.crop->around);
  ArrayProgram whole;
  whole.shape.emplace(layout.shape.rank(), ArrayProgram::kAny);
  whole.most = std::numeric_limits<int>::max();
  const ArrayBox box = draw_array_box(whole, layout, sample.draw);
  const std::uint8_t* const stored = sample.fields[static_cast<std::size_t>(field)].data() + layout.offset;
  std::map<double, std::vector<std::size_t>> indexes;  // of each positive number
  Places places(box);
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < box.rank; ++axis) count *= static_cast<std::size_t>(layout.shape[axis]);
  for (std::size_t i = 0; i < count; ++i, places.next()) {
    const auto number = as_float<double>(plain_number(stored + *places.offset(), layout.dtype, layout.is_big_endian));
    if (number != std::trunc(number) || number > static_cast<double>(kAroundMost)) {
      fail(ErrorKind::kBadSample, "its array '{}' holds {}, which no crop is drawn around", program.crop->around,
           number);
    }
    if (number > 0) indexes[number].push_back(i);
  }
  if (indexes.empty()) return {};
  const auto& [number, of_number] =
      *std::next(indexes.begin(), static_cast<std::ptrdiff_t>(random->below(indexes.size())));
  std::size_t index = of_number[random->below(of_number.size())];
  ArrayPoint point;
  for (std::size_t axis = layout.shape.rank(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(layout.shape[axis]);
    point.push_back(static_cast<std::int64_t>(index % extent));
    index /= extent;
  }
  return point;
}

}  // namespace

void reference_array(const ArrayProgram& program, int field, const SampleInput& sample,
                     const std::function<MutableBytes(const Shape& shape)>& place) {
  const ArrayLayout layout = array_layout_of(sample, field, program.field);
  check_arrays_beside(program, layout, sample);
  const std::optional<ArrayPoint> around = reference_point_around(program, sample);
  const ArrayBox box = draw_array_box(program, layout, sample.draw, around ? &*around : nullptr);
  const MutableBytes out = place(box.shape());
  const std::uint8_t* const stored = sample.fields[static_cast<std::size_t>(field)].data() + layout.offset;
  const std::size_t item = size_of(program.dtype), count = out.size() / item;
  const PlainNumber fill{.is_whole = false, .real = program.fill};
  std::vector<float> numbers;
  Places places(box);
  for (std::size_t i = 0; i < count; ++i, places.next()) {
    const std::optional<std::uint64_t> offset = places.offset();
    const PlainNumber number = offset ? plain_number(stored + *offset, layout.dtype, layout.is_big_endian) : fill;
    if (offset && program.steps.empty() && layout.dtype == program.dtype && is_float(program.dtype)) {
      const std::uint64_t bits = bits_at(stored + *offset, item, layout.is_big_endian);  // whatever a NaN's are
      std::memcpy(out.data() + i * item, &bits, item);
    } else if (program.steps.empty()) {
      store_number(number, program, out.data() + i * item);
    } else {
      numbers.push_back(as_float<float>(number));
    }
  }
  if (program.steps.empty()) return;
  std::vector<DrawnArrayStep> steps;
  draw_array_steps(program.steps, sample.draw, steps);
  for (const DrawnArrayStep& step : steps) take_step(step, box, numbers);
  for (std::size_t i = 0; i < count; ++i) store_rounded(numbers[i], program.dtype, out.data() + i * item, 0);
}

}  // namespace stoker
