#include "cli/build_facts.h"

#include <fmt/format.h>

#include "stoker/base/error.h"
#include "stoker/base/isa.h"
#include "stoker/storage/uring_io.h"

namespace stoker {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif
#ifdef NDEBUG
constexpr const char* kAssertions = "";
#else
constexpr const char* kAssertions = ", with assertions";
#endif

std::string isa_in_use() {
  try {
    return active_isa();
  } catch (const Error& error) {  // of STOKER_ISA
    return error.message();
  }
}

}  // namespace

std::string build_facts() {
  const std::string no_uring = UringIo::why_not();
  return fmt::format("stoker {}\nbuilt by {}, {} CUDA{}\nhere: instruction set {} (of {}); {}", STOKER_VERSION,
                     kCompiler, STOKER_HAS_CUDA ? "with" : "without", kAssertions, isa_in_use(),
                     fmt::join(available_isas(), ", "),
                     no_uring.empty() ? "io_uring" : fmt::format("pread, since {}", no_uring));
}

}  // namespace stoker
