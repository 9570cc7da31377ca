#include "stoker/tensor/dtype.h"

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
  enum Kind : std::uint8_t { kUnsigned, kSigned, kFloat, kTruth } kind;
};
constexpr Row kRows[] = {
    {DType::kU8, "u8", 1, Row::kUnsigned},   {DType::kI64, "i64", 8, Row::kSigned},
    {DType::kF16, "f16", 2, Row::kFloat},    {DType::kBF16, "bf16", 2, Row::kFloat},
    {DType::kF32, "f32", 4, Row::kFloat},    {DType::kF64, "f64", 8, Row::kFloat},
    {DType::kI8, "i8", 1, Row::kSigned},     {DType::kI16, "i16", 2, Row::kSigned},
    {DType::kI32, "i32", 4, Row::kSigned},   {DType::kU16, "u16", 2, Row::kUnsigned},
    {DType::kU32, "u32", 4, Row::kUnsigned}, {DType::kU64, "u64", 8, Row::kUnsigned},
    {DType::kBool, "bool", 1, Row::kTruth},
};

const Row& row_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).size; }

bool is_integer(DType dtype) { return row_of(dtype).kind == Row::kUnsigned || row_of(dtype).kind == Row::kSigned; }

bool is_signed(DType dtype) { return row_of(dtype).kind == Row::kSigned; }

bool is_float(DType dtype) { return row_of(dtype).kind == Row::kFloat; }

std::string_view to_string(DType dtype) { return row_of(dtype).name; }

DType parse_dtype(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  fail(ErrorKind::kUsage,
       "'{}' is not an element type; use u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 or bool", name);
}

}  // namespace stoker
