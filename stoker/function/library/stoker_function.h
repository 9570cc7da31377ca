// What a shared object needs to be a function of Stoker's: this header alone, in C or C++ (11 or later).
//
//   #include <stoker_function.h>
//
//   STOKER_FUNCTION(brighter, call) {
//     const stoker_function::Values<const std::uint8_t> in = call.taken<std::uint8_t>(0);
//     stoker_function::Values<std::uint8_t> out = call.given<std::uint8_t>(0);
//     if (in.count() != out.count()) throw std::runtime_error("it has another size");
//     for (std::size_t i = 0; i < in.count(); ++i) out[i] = in[i] < 245 ? in[i] + 10 : 255;
//   }
//
// Built by `g++ -shared -fPIC -O2 brighter.cc -o libbrighter.so`, it is named "libbrighter.so:brighter" in a recipe, or
// by a path from another folder. It is called from several threads at a time: what it changes is its own, or guarded.
#pragma once

#include <stdint.h>

#define STOKER_FUNCTION_VERSION 1
#define STOKER_FUNCTION_RANK_MAX 6
#define STOKER_FUNCTION_ERROR_MAX 512

// The types of elements.
enum {
  kStokerU8 = 0,
  kStokerI64 = 1,
  kStokerF16 = 2,
  kStokerBF16 = 3,
  kStokerF32 = 4,
  kStokerF64 = 5,
  kStokerI8 = 6,
  kStokerI16 = 7,
  kStokerI32 = 8,
  kStokerU16 = 9,
  kStokerU32 = 10,
  kStokerU64 = 11,
  kStokerBool = 12,
};

// Contiguous, row-major.
typedef struct StokerValues {  // NOLINT(modernize-use-using): it may be C
  void* data;
  uint32_t dtype;
  uint32_t rank;
  int64_t shape[STOKER_FUNCTION_RANK_MAX];
} StokerValues;

typedef struct StokerFunctionCall {  // NOLINT(modernize-use-using)
  uint32_t version;                  // STOKER_FUNCTION_VERSION of the caller
  uint32_t taken_count, given_count;
  const StokerValues* taken;  // not to be written
  // To be written; of one with rows of any number, shape[0] is how many fit, and then how many it has.
  StokerValues* given;
  uint32_t seed[4];       // of the sample: all random numbers come from these
  const char* arguments;  // JSON: what the recipe says
  char* error;            // room for STOKER_FUNCTION_ERROR_MAX bytes: why it returned another number than 0
} StokerFunctionCall;

// What is exported under the function's name. 0: everything that is given was written.
typedef int StokerFunction(StokerFunctionCall* call);  // NOLINT(modernize-use-using)

#ifdef __cplusplus

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace stoker_function {

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr std::uint32_t value = kStokerU8;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr std::uint32_t value = kStokerI64;
};
template <>
struct DTypeOf<float> {
  static constexpr std::uint32_t value = kStokerF32;
};
template <>
struct DTypeOf<double> {
  static constexpr std::uint32_t value = kStokerF64;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr std::uint32_t value = kStokerI8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr std::uint32_t value = kStokerI16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr std::uint32_t value = kStokerI32;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr std::uint32_t value = kStokerU16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr std::uint32_t value = kStokerU32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr std::uint32_t value = kStokerU64;
};
template <>
struct DTypeOf<bool> {
  static constexpr std::uint32_t value = kStokerBool;
};

template <typename T>
class Values {
 public:
  explicit Values(StokerValues* values) : values_(values), room_(values->rank > 0 ? values->shape[0] : 1) {}

  T* data() const { return static_cast<T*>(values_->data); }
  T& operator[](std::size_t i) const { return data()[i]; }
  std::size_t rank() const { return values_->rank; }
  std::int64_t extent(std::size_t axis) const { return values_->shape[axis]; }
  std::size_t count() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis < rank(); ++axis) product *= static_cast<std::size_t>(extent(axis));
    return product;
  }
  // Of a given value with rows of any number: how many there are now.
  void set_rows(std::int64_t rows) {
    if (rows < 0 || rows > room_) throw std::runtime_error("it has more rows than there is room for");
    values_->shape[0] = rows;
  }

 private:
  StokerValues* values_;
  std::int64_t room_;  // in rows
};

// Draws numbers of a sample: splitmix64 from its seed.
class Draws {
 public:
  explicit Draws(const std::uint32_t (&seed)[4])
      : state_((std::uint64_t{seed[1]} << 32 | seed[0]) ^ (std::uint64_t{seed[3]} << 32 | seed[2])) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * (1.0 / 9007199254740992.0); }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t state_;
};

class Call {
 public:
  explicit Call(StokerFunctionCall* call) : call_(call) {}

  std::size_t taken_count() const { return call_->taken_count; }
  std::size_t given_count() const { return call_->given_count; }
  template <typename T>
  Values<const T> taken(std::size_t i) const {
    if (i >= taken_count()) throw std::runtime_error("it takes more values than the recipe names");
    check<T>(call_->taken[i], "takes");
    return Values<const T>(const_cast<StokerValues*>(&call_->taken[i]));
  }
  template <typename T>
  Values<T> given(std::size_t i) const {
    if (i >= given_count()) throw std::runtime_error("it gives more values than the recipe names");
    check<T>(call_->given[i], "gives");
    return Values<T>(&call_->given[i]);
  }
  Draws draws() const { return Draws(call_->seed); }
  const char* arguments() const { return call_->arguments; }

 private:
  template <typename T>
  static void check(const StokerValues& values, const char* what) {
    if (values.dtype != DTypeOf<T>::value)
      throw std::runtime_error(std::string("it ") + what + " values of another type");
  }

  StokerFunctionCall* call_;
};

template <typename Body>
int run(StokerFunctionCall* call, Body body) noexcept {
  try {
    body(Call(call));
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(call->error, STOKER_FUNCTION_ERROR_MAX, "%s", error.what());
    return 1;
  } catch (...) {
    std::snprintf(call->error, STOKER_FUNCTION_ERROR_MAX, "it threw something that is no exception");
    return 1;
  }
}

}  // namespace stoker_function

// Defines and exports a function; its body follows.
// NOLINTBEGIN(bugprone-macro-parentheses): the second argument names a parameter
#define STOKER_FUNCTION(name, call)                                                      \
  static void stoker_function_body_##name(stoker_function::Call call);                   \
  extern "C" __attribute__((visibility("default"))) int name(StokerFunctionCall* call) { \
    return stoker_function::run(call, stoker_function_body_##name);                      \
  }                                                                                      \
  static void stoker_function_body_##name(stoker_function::Call call)
// NOLINTEND(bugprone-macro-parentheses)

#endif  // __cplusplus
