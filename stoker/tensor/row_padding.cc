#include "stoker/tensor/row_padding.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

void check_rows(const RowPadding& padding, std::int64_t rows) {
  if (rows <= padding.rows || padding.cuts) return;
  fail(ErrorKind::kBadSample, "it has {}, and pad_to has count={}: use a larger one, or longer='cut'",
       counted(rows, "row"), padding.rows);
}

bool is_number_of(DType dtype, double number) {
  constexpr double kWholeMax = 0x1p53;
  switch (dtype) {
    case DType::kU8: return number == std::floor(number) && number >= 0 && number <= 255;
    case DType::kI64: return number == std::floor(number) && std::abs(number) <= kWholeMax;
    default: return true;
  }
}

void fill_elements(DType dtype, double number, MutableBytes out) {
  assert(is_number_of(dtype, number) && out.size() % size_of(dtype) == 0);
  if (out.empty()) return;
  if (dtype == DType::kI64) {
    const auto whole = static_cast<std::int64_t>(number);
    std::memcpy(out.data(), &whole, sizeof(whole));
  } else {
    store_rounded(static_cast<float>(number), dtype, out.data(), 0);
  }
  for (std::size_t done = size_of(dtype), more = 0; done < out.size(); done += more) {
    more = std::min(done, out.size() - done);
    std::memcpy(out.data() + done, out.data(), more);
  }
}

}  // namespace stoker
