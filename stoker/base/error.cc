#include "stoker/base/error.h"

namespace stoker {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kNotFound: return "not_found";
    case ErrorKind::kIo: return "io";
    case ErrorKind::kData: return "data";
    case ErrorKind::kBadSample: return "bad_sample";
    case ErrorKind::kLimit: return "limit";
    case ErrorKind::kMemory: return "memory";
    case ErrorKind::kClosed: return "closed";
  }
  return "unknown";
}

}  // namespace stoker
