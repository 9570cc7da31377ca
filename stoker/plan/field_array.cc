#include "stoker/plan/field_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/ops/array/array_meaning.h"
#include "stoker/ops/array/array_numbers.h"
#include "stoker/ops/array/array_place.h"
#include "stoker/tensor/field_number.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {
namespace {

// Numbers that operators work on at once: they stay in the first cache.
constexpr std::int64_t kNumbersAtOnce = 1024;

/// A piece of a row of the output.
struct RowPiece {
  std::int64_t channel = 0;  // along the first axis
  std::int64_t index = 0;    // of its first number, in the output
  std::int64_t begin = 0;    // of it, in the row
  std::int64_t count = 0;
};

/// The numbers of a box, row by row.
class BoxRows {
 public:
  BoxRows(const ArrayProgram& program, const ArrayLayout& layout, const ArrayBox& box, const FieldWindow& window,
          Bytes read)
      : program_(program), layout_(layout), box_(box), window_(window), read_(read) {
    if (box.rank > 0) last_ = box.axes[box.rank - 1];
  }

  /// Calls `use` for all pieces of at most `most` numbers, in the output's order.
  template <typename Use>
  void for_each(std::int64_t most, const Use& use) {
    std::int64_t rows = 1, rows_of_channel = 1;
    const std::size_t outer = box_.rank > 0 ? box_.rank - 1 : 0;
    for (std::size_t axis = 0; axis < outer; ++axis) rows *= box_.axes[axis].size;
    if (outer > 0 && rows > 0) rows_of_channel = rows / box_.axes[0].size;
    for (std::int64_t row = 0; row < rows; ++row) {
      begin_row(row, outer);
      for (std::int64_t begin = 0; begin < last_.size; begin += std::min(most, last_.size)) {
        const std::int64_t channel = outer > 0 ? row / rows_of_channel : begin;  // a number each, of one row
        use(RowPiece{channel, row * last_.size + begin, begin, std::min(most, last_.size - begin)});
      }
    }
  }

  void load(const RowPiece& piece, float* to) const {
    const auto fill = static_cast<float>(program_.fill);
    each_part(piece, [&](std::int64_t at, std::int64_t count, const StoredNumbers* stored) {
      if (stored) return load_floats(*stored, to + at);
      std::fill_n(to + at, count, fill);
    });
    if (last_.is_flipped) std::reverse(to, to + piece.count);
  }

  void convert(const RowPiece& piece, std::uint8_t* to) const {
    const std::size_t item = size_of(program_.dtype);
    each_part(piece, [&](std::int64_t at, std::int64_t count, const StoredNumbers* stored) {
      std::uint8_t* const place = to + static_cast<std::size_t>(at) * item;
      const StoredNumbers padding{reinterpret_cast<const std::uint8_t*>(&program_.fill), 0,
                                  static_cast<std::size_t>(count), DType::kF64, false};
      if (const auto strange = convert_numbers(stored ? *stored : padding, program_.dtype, place)) {
        fail(ErrorKind::kBadSample, "its array '{}' holds {}, which dtype='{}' does not have", program_.field, *strange,
             to_string(program_.dtype));
      }
    });
    if (last_.is_flipped) reverse_numbers(to, static_cast<std::size_t>(piece.count), item);
  }

 private:
  // Where the row's numbers are stored, for the place 0 along the last axis.
  void begin_row(std::int64_t row, std::size_t outer) {
    row_is_padding_ = false;
    row_offset_ = layout_.offset;
    for (std::size_t axis = outer; axis-- > 0;) {
      const ArrayAxis& here = box_.axes[axis];
      const std::int64_t source = here.source_of(row % here.size);
      row /= here.size;
      if (source < 0) row_is_padding_ = true;
      row_offset_ += static_cast<std::uint64_t>(std::max<std::int64_t>(source, 0)) * here.stride;
    }
  }

  // Calls `use` for padding before the stored numbers of a piece, these, and padding after them, of an upright row.
  template <typename Use>
  void each_part(const RowPiece& piece, const Use& use) const {
    const std::int64_t begin = last_.is_flipped ? last_.size - piece.begin - piece.count : piece.begin;
    const std::int64_t end = begin + piece.count;
    const std::int64_t stored_begin = std::clamp(last_.before, begin, end);
    const std::int64_t stored_end = row_is_padding_ ? stored_begin : std::clamp(last_.before + last_.count, begin, end);
    if (stored_begin > begin) use(std::int64_t{0}, stored_begin - begin, nullptr);
    if (const std::int64_t count = stored_end - stored_begin; count > 0) {
      const auto source = static_cast<std::uint64_t>(last_.begin + stored_begin - last_.before);
      const std::uint64_t bytes = static_cast<std::uint64_t>(count - 1) * last_.stride + layout_.item_bytes();
      const StoredNumbers stored{window_.at(read_, row_offset_ + source * last_.stride, bytes), last_.stride,
                                 static_cast<std::size_t>(count), layout_.dtype, layout_.is_big_endian};
      use(stored_begin - begin, count, &stored);
    }
    if (stored_end < end) use(stored_end - begin, end - stored_end, nullptr);
  }

  static void reverse_numbers(std::uint8_t* numbers, std::size_t count, std::size_t item) {
    const auto reverse = [&](auto number) {
      auto* const first = reinterpret_cast<decltype(number)*>(numbers);
      std::reverse(first, first + count);
    };
    switch (item) {
      case 1: return reverse(std::uint8_t{});
      case 2: return reverse(std::uint16_t{});
      case 4: return reverse(std::uint32_t{});
      default: return reverse(std::uint64_t{});
    }
  }

  const ArrayProgram& program_;
  const ArrayLayout& layout_;
  const ArrayBox& box_;
  const FieldWindow& window_;
  const Bytes read_;
  ArrayAxis last_{.stride = 0};
  std::uint64_t row_offset_ = 0;
  bool row_is_padding_ = false;
};

/// The positive numbers of an array that a crop is drawn around: how often each occurs, and where.
class AroundNumbers {
 public:
  AroundNumbers(const std::string& field, const ArrayLayout& layout, Bytes bytes) : layout_(layout), bytes_(bytes) {
    program_.field = field;
    program_.dtype = DType::kI64;
    program_.shape.emplace(layout.shape.rank(), ArrayProgram::kAny);
    program_.most = std::numeric_limits<int>::max();
    for_each([&](std::int64_t, std::int64_t number) {
      if (number > kAroundMost) {
        fail(ErrorKind::kBadSample, "its array '{}' holds {}, and crops are drawn around numbers up to {}",
             program_.field, number, kAroundMost);
      }
      if (number > 0) ++counts_[static_cast<std::size_t>(number)];
      return true;
    });
  }

  /// Nothing if none is positive.
  std::optional<ArrayPoint> draw(Random random) const {
    const auto there = static_cast<std::uint64_t>(
        std::count_if(counts_.begin(), counts_.end(), [](std::uint64_t count) { return count > 0; }));
    if (there == 0) return {};
    std::size_t number = 0;
    for (std::uint64_t left = random.below(there) + 1; left > 0; left -= counts_[number] > 0) ++number;
    std::uint64_t left = random.below(counts_[number]);
    ArrayPoint point;
    for_each([&](std::int64_t index, std::int64_t other) {
      if (other != static_cast<std::int64_t>(number) || left-- > 0) return true;
      for (std::size_t axis = layout_.shape.rank(); axis-- > 0; index /= layout_.shape[axis]) {
        point.push_back(index % layout_.shape[axis]);
      }
      return false;
    });
    return point;
  }

 private:
  // Until `use` of a number and of its place among all says false.
  template <typename Use>
  void for_each(const Use& use) const {
    const ArrayBox box = draw_array_box(program_, layout_, {});
    const FieldWindow whole;
    BoxRows rows(program_, layout_, box, whole, bytes_);
    std::array<std::int64_t, kNumbersAtOnce> numbers;
    bool goes_on = true;
    rows.for_each(kNumbersAtOnce, [&](const RowPiece& piece) {
      if (!goes_on) return;
      rows.convert(piece, reinterpret_cast<std::uint8_t*>(numbers.data()));
      for (std::int64_t i = 0; i < piece.count && goes_on; ++i) {
        goes_on = use(piece.index + i, numbers[static_cast<std::size_t>(i)]);
      }
    });
  }

  const ArrayLayout& layout_;
  const Bytes bytes_;
  ArrayProgram program_;
  std::array<std::uint64_t, kAroundMost + 1> counts_{};
};

std::optional<ArrayPoint> draw_point_around(const ArrayProgram& program, const SampleInput& sample) {
  const std::optional<Random> random = draw_around(program, sample.draw);
  if (!random) return {};
  const ArrayCrop& crop = *program.crop;
  const ArrayLayout layout = array_layout_of(sample, crop.around_field, crop.around);
  return AroundNumbers(crop.around, layout, sample.fields[static_cast<std::size_t>(crop.around_field)]).draw(*random);
}

/// What is done to the numbers of one sample.
class ArraySteps {
 public:
  ArraySteps(const ArrayProgram& program, const SampleDraw& draw, BoxRows& rows, const ArrayBox& box)
      : dtype_(program.dtype), rows_(rows) {
    draw_array_steps(program.steps, draw, steps_);
    scales_.resize(steps_.size());
    channels_ = box.rank > 0 ? static_cast<std::size_t>(box.axes[0].size) : 1;
    // Where rows are all there is, each number is a channel.
    if (box.rank == 1) at_once_ = 1;
  }

  void write(std::uint8_t* to) {
    for (std::size_t i = 0; i < steps_.size(); ++i) find_scales(i);
    const std::size_t item = size_of(dtype_);
    rows_.for_each(at_once_, [&](const RowPiece& piece) {
      load(piece, steps_.size());
      store_floats(room_.data(), static_cast<std::size_t>(piece.count), dtype_,
                   to + static_cast<std::size_t>(piece.index) * item);
    });
  }

 private:
  // Loads a piece, and takes so many steps.
  void load(const RowPiece& piece, std::size_t steps) {
    rows_.load(piece, room_.data());
    for (std::size_t i = 0; i < steps; ++i) apply(i, piece);
  }

  // By channel, or one for all. Numbers that are standardized are looked at as the steps before leave them.
  void find_scales(std::size_t i) {
    const ArrayStep& step = *steps_[i].step;
    std::vector<ArrayScale>& scales = scales_[i];
    if (step.kind == ArrayStep::Kind::kScale) {
      for (std::size_t channel = 0; channel < step.low.size(); ++channel)
        scales.push_back(ArrayScale::of(step, channel));
    }
    if (step.kind != ArrayStep::Kind::kStandardize) return;
    std::vector<ArrayStatistics> statistics(step.by_channel ? channels_ : 1);
    rows_.for_each(at_once_, [&](const RowPiece& piece) {
      load(piece, i);
      statistics[place_of(piece, statistics.size())].add(room_.data(), static_cast<std::size_t>(piece.count));
    });
    for (const ArrayStatistics& of_channel : statistics) scales.push_back(ArrayScale::of(of_channel));
  }

  static std::size_t place_of(const RowPiece& piece, std::size_t count) {
    return count == 1 ? 0 : static_cast<std::size_t>(piece.channel);
  }

  void apply(std::size_t i, const RowPiece& piece) {
    const DrawnArrayStep& step = steps_[i];
    const auto numbers = std::span(room_).first(static_cast<std::size_t>(piece.count));
    switch (step.kind) {
      case ArrayStep::Kind::kClip:
        for (float& number : numbers) number = clipped(number, step.a, step.b);
        return;
      case ArrayStep::Kind::kScale:
      case ArrayStep::Kind::kStandardize: {
        const ArrayScale scale = scales_[i][place_of(piece, scales_[i].size())];
        for (float& number : numbers) number = scale.apply(number);
        return;
      }
      case ArrayStep::Kind::kFactor:
        for (float& number : numbers) number *= step.a;
        return;
      case ArrayStep::Kind::kNoise:
        for (std::int64_t at = 0; at < piece.count; ++at) {
          float& number = numbers[static_cast<std::size_t>(at)];
          number = with_noise(step, number, piece.index + at);
        }
    }
  }

  const DType dtype_;
  BoxRows& rows_;
  std::size_t channels_ = 1;
  std::int64_t at_once_ = kNumbersAtOnce;
  std::vector<DrawnArrayStep> steps_;
  std::vector<std::vector<ArrayScale>> scales_;
  std::array<float, kNumbersAtOnce> room_{};
};

/// One axis of them, with the lowest bytes first.
ArrayLayout layout_of_numbers(DType dtype, std::uint64_t bytes) {
  ArrayLayout layout{.dtype = dtype};
  const std::uint64_t count = bytes / layout.item_bytes();
  if (bytes == 0 || bytes % layout.item_bytes() != 0) {
    fail(ErrorKind::kBadSample, "its {} are not numbers of {}", byte_count(bytes), byte_count(layout.item_bytes()));
  }
  layout.shape.append(static_cast<std::int64_t>(count));
  return layout;
}

}  // namespace

ArrayLayout array_layout_of(const SampleInput& sample, int field, const std::string& name) {
  const auto number = static_cast<std::size_t>(field);
  if (!sample.windows.empty() && !sample.windows[number].whole()) return sample.windows[number].layout;
  const Bytes bytes = sample.fields[number];
  return read_field_layout(bytes, bytes.size(), name);
}

ArrayLayout read_field_layout(Bytes beginning, std::uint64_t bytes, const std::string& name) {
  try {
    const std::optional<DType> dtype = number_type_in_name(name);
    return dtype && !has_npy_magic(beginning) ? layout_of_numbers(*dtype, bytes) : read_npy_layout(beginning, bytes);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("its field '{}' is not an array: {}", name, error.message()));
  }
}

void check_arrays_beside(const ArrayProgram& program, const ArrayLayout& layout, const SampleInput& sample) {
  const auto check = [&](int field, const std::string& name) {
    if (field >= 0) check_array_sizes(program, layout, name, array_layout_of(sample, field, name));
  };
  check(program.like_field, program.like_name);
  if (program.crop) check(program.crop->around_field, program.crop->around);
}

void write_field_array(const ArrayProgram& program, int field, const SampleInput& sample,
                       const std::function<MutableBytes(const Shape& shape)>& place) {
  const auto number = static_cast<std::size_t>(field);
  const ArrayLayout layout = array_layout_of(sample, field, program.field);
  check_arrays_beside(program, layout, sample);
  const std::optional<ArrayPoint> around = draw_point_around(program, sample);
  const ArrayBox box = draw_array_box(program, layout, sample.draw, around ? &*around : nullptr);
  const MutableBytes out = place(box.shape());
  if (out.empty()) return;
  const FieldWindow whole;
  BoxRows rows(program, layout, box, sample.windows.empty() ? whole : sample.windows[number], sample.fields[number]);
  if (!program.steps.empty()) return ArraySteps(program, sample.draw, rows, box).write(out.data());
  const std::size_t item = size_of(program.dtype);
  rows.for_each(std::numeric_limits<std::int64_t>::max(), [&](const RowPiece& piece) {
    rows.convert(piece, out.data() + static_cast<std::size_t>(piece.index) * item);
  });
}

}  // namespace stoker
