#include "stoker/function/library/library_function.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {
namespace {

static_assert(kStokerU8 == int(DType::kU8) && kStokerI64 == int(DType::kI64) && kStokerF16 == int(DType::kF16) &&
              kStokerBF16 == int(DType::kBF16) && kStokerF32 == int(DType::kF32) && kStokerF64 == int(DType::kF64) &&
              kStokerI8 == int(DType::kI8) && kStokerI16 == int(DType::kI16) && kStokerI32 == int(DType::kI32) &&
              kStokerU16 == int(DType::kU16) && kStokerU32 == int(DType::kU32) && kStokerU64 == int(DType::kU64) &&
              kStokerBool == int(DType::kBool));
static_assert(STOKER_FUNCTION_RANK_MAX == Shape::kMaxRank);

// Libraries stay open: threads may still run in them, and what they registered would be gone.
StokerFunction* find_in_library(const FunctionSpec& spec) {
  const std::size_t colon = spec.library.rfind(':');
  if (colon == std::string::npos) {
    fail(ErrorKind::kUsage, "function '{}': '{}' is not written as PATH:FUNCTION", spec.name, spec.library);
  }
  const std::string path = spec.library.substr(0, colon), symbol = spec.library.substr(colon + 1);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(ErrorKind::kUsage, "function '{}' cannot be loaded: {}", spec.name, ::dlerror());
  void* const found = ::dlsym(library, symbol.c_str());
  if (!found) {
    fail(ErrorKind::kUsage, "function '{}' cannot be loaded: {} exports no '{}'; STOKER_FUNCTION({}, call) would",
         spec.name, path, symbol, symbol);
  }
  return reinterpret_cast<StokerFunction*>(found);
}

StokerValues values_of(void* data, DType dtype, const Shape& shape) {
  StokerValues values{data, static_cast<std::uint32_t>(dtype), static_cast<std::uint32_t>(shape.rank()), {}};
  std::copy(shape.extents().begin(), shape.extents().end(), values.shape);
  return values;
}

}  // namespace

LibraryFunction::LibraryFunction(const FunctionSpec& spec, std::size_t taken_count)
    : spec_(spec),
      function_(find_in_library(spec)),
      rooms_(taken_count),
      taken_(taken_count),
      given_(spec.gives.size()),
      ragged_(spec.gives.size()) {}

MutableBytes LibraryFunction::take(std::size_t taken, DType dtype, const Shape& shape) {
  std::vector<std::uint8_t>& room = rooms_[taken];
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  if (room.size() < bytes) room.resize(bytes);
  taken_[taken] = values_of(room.data(), dtype, shape);
  return {room.data(), bytes};
}

void LibraryFunction::call(const FunctionSeed& seed, const GivenPlaces& place) {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const GivenValue& value = spec_.gives[i];
    if (value.is_ragged) ragged_[i].resize(value.bytes());
    given_[i] = values_of(value.is_ragged ? ragged_[i].data() : place(i, value.shape).data(), value.dtype, value.shape);
  }
  std::array<char, STOKER_FUNCTION_ERROR_MAX> error{};
  StokerFunctionCall call{.version = STOKER_FUNCTION_VERSION,
                          .taken_count = static_cast<std::uint32_t>(taken_.size()),
                          .given_count = static_cast<std::uint32_t>(given_.size()),
                          .taken = taken_.data(),
                          .given = given_.data(),
                          .seed = {seed[0], seed[1], seed[2], seed[3]},
                          .arguments = spec_.arguments.c_str(),
                          .error = error.data()};
  const std::int64_t began_ns = now_ns();
  int status = 0;
  try {
    status = function_(&call);
  } catch (const std::exception& thrown) {
    fail(ErrorKind::kBadSample, "function '{}' threw: {}", spec_.name, thrown.what());
  }
  inside_ns_ += now_ns() - began_ns;
  if (status != 0) {
    error.back() = '\0';
    fail(ErrorKind::kBadSample, "function '{}' failed with status {}: {}", spec_.name, status, error.data());
  }
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const GivenValue& value = spec_.gives[i];
    if (!value.is_ragged) continue;
    const std::int64_t rows = given_[i].shape[0];
    if (rows < 0 || rows > value.shape[0]) {
      fail(ErrorKind::kBadSample, "function '{}' gave {} rows of '{}', and there is room for {}", spec_.name, rows,
           value.name, value.shape[0]);
    }
    Shape shape{rows};
    for (const std::int64_t extent : value.shape.extents().subspan(1)) shape.append(extent);
    const MutableBytes out = place(i, shape);
    std::memcpy(out.data(), ragged_[i].data(), out.size());
  }
}

}  // namespace stoker
