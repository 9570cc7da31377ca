// What is asked of a Preprocessor: some samples, and what random numbers they get. Threads: values.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/base/bytes.h"
#include "stoker/storage/location.h"

namespace stoker {

/// One sample. What it refers to stays until the call has ended.
struct RequestItem {
  std::span<const Bytes> fields{};  // by Preprocessor::fields(); not used where there is a place
  const Location* place = nullptr;  // of the file or the object that holds the only field
  std::int64_t label = -1;
};

struct Request {
  std::span<const RequestItem> items{};
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // in the epoch, of the first item; those of the others follow
  std::uint64_t batch = 0;     // its number, for what is drawn once for a whole batch
  bool keeps_bad = false;      // a bad item costs its slot alone, instead of the request
};

}  // namespace stoker
