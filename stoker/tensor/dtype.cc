#include "stoker/tensor/dtype.h"

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr Row kRows[] = {
    {DType::kU8, "u8", 1},     {DType::kI64, "i64", 8}, {DType::kF16, "f16", 2},
    {DType::kBF16, "bf16", 2}, {DType::kF32, "f32", 4},
};

const Row& row_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).size; }

std::string_view to_string(DType dtype) { return row_of(dtype).name; }

DType parse_dtype(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  fail(ErrorKind::kUsage, "'{}' is not an element type; use u8, f16, bf16 or f32", name);
}

}  // namespace stoker
