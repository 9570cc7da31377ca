#include "python/bindings/numpy_array.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "python/bindings/dlpack.h"
#include "stoker/base/error.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr std::pair<std::string_view, DType> kNumpyNames[] = {
    {"uint8", DType::kU8},      {"int64", DType::kI64},   {"float16", DType::kF16}, {"float32", DType::kF32},
    {"bfloat16", DType::kBF16}, {"float64", DType::kF64}, {"int8", DType::kI8},     {"int16", DType::kI16},
    {"int32", DType::kI32},     {"uint16", DType::kU16},  {"uint32", DType::kU32},  {"uint64", DType::kU64},
    {"bool", DType::kBool}};

}  // namespace

std::string_view numpy_name(DType dtype) {
  return std::find_if(std::begin(kNumpyNames), std::end(kNumpyNames),
                      [&](const auto& one) { return one.second == dtype; })
      ->first;
}

std::optional<DType> dtype_of_numpy_name(std::string_view name) {
  for (const auto& [known, dtype] : kNumpyNames) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

nb::object numpy_view(const TensorView& view, std::shared_ptr<const void> owner, bool read_only) {
  if (view.dtype == DType::kBF16) {
    fail(ErrorKind::kUsage, "numpy has no bf16: use torch.from_dlpack (or stoker.torch.Loader), or cast to f16 or f32");
  }
  std::vector<std::size_t> shape;
  for (const std::int64_t extent : view.shape.extents()) shape.push_back(static_cast<std::size_t>(extent));
  using Owner = std::shared_ptr<const void>;
  const nb::capsule holder(new Owner(std::move(owner)), [](void* held) noexcept { delete static_cast<Owner*>(held); });
  const dlpack::DataType type = dlpack::data_type(view.dtype);
  const nb::dlpack::dtype dtype{type.code, type.bits, type.lanes};
  const nb::object array =
      read_only
          ? nb::cast(nb::ndarray<nb::numpy, nb::ro>(view.data, shape.size(), shape.data(), holder, nullptr, dtype))
          : nb::cast(nb::ndarray<nb::numpy>(view.data, shape.size(), shape.data(), holder, nullptr, dtype));
  // Of C's types with 64 bits nanobind takes long long, and numpy calls long int64.
  const bool is_long = view.dtype == DType::kI64 || view.dtype == DType::kU64;
  return is_long ? array.attr("view")(nb::str(numpy_name(view.dtype).data())) : array;
}

}  // namespace stoker::python
