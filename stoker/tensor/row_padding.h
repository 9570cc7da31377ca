// How rows of which each sample has its own number become as many of every sample: filled up, or cut off.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/tensor/dtype.h"

namespace stoker {

struct RowPadding {
  std::int64_t rows = 0;  // of every sample
  double fill = 0;        // what rows consist of that a sample does not have; a number of the output's type
  bool cuts = false;      // rows beyond these are left out; else their sample is a bad one
  std::int64_t room = 0;  // rows that a sample may come with; at least `rows`
};

/// Throws kBadSample for more rows than there may be.
void check_rows(const RowPadding& padding, std::int64_t rows);

/// Whether the type has exactly this number, of whole numbers up to 2^53; of floats, whether it is within their range.
bool is_number_of(DType dtype, double number);
/// Makes all elements the number, which must be one of the type.
void fill_elements(DType dtype, double number, MutableBytes out);

}  // namespace stoker
