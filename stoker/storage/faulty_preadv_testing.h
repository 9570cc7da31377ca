// A disk that fails: preadv() for PreadIo, with errors, short reads and interruptions put into it by number or by
// chance.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

namespace stoker {

struct PreadvFaults {
  enum class Kind {
    kError,        // EIO
    kShort,        // half of what was asked for
    kInterrupted,  // EINTR
    kEnd,          // nothing, as if the file ended there
  };
  Kind kind = Kind::kError;
  std::int64_t number = INT64_MAX;  // of the call that it befalls, counting from 0
  bool for_good = false;            // and all later ones

  // And each other call, decided by the seed and its number:
  double error_probability = 0, short_probability = 0;
  std::uint64_t seed = 0;
};

// Threads: any. There is one such disk at a time: preadv() has no place for a context.

/// Sets what faulty_preadv() does from here on, counting calls from 0.
void set_preadv_faults(const PreadvFaults& faults);
/// How often it was called since.
std::int64_t preadv_calls();
ssize_t faulty_preadv(int fd, const iovec* entries, int count, off_t offset);

}  // namespace stoker
