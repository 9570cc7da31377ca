#include "stoker/function/sample_function.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/function/library/library_function.h"
#include "stoker/function/python/python_function.h"

namespace stoker {
namespace {

std::mutex opener_mutex;

FunctionOpener& thread_opener() {
  static FunctionOpener opener;
  return opener;
}

}  // namespace

std::string_view to_string(ValueKind kind) {
  switch (kind) {
    case ValueKind::kImage: return "image";
    case ValueKind::kMask: return "mask";
    case ValueKind::kMasks: return "masks";
    case ValueKind::kBoxes: return "boxes";
    case ValueKind::kText: return "text";
    case ValueKind::kBytes: return "bytes";
    case ValueKind::kNumbers: break;
  }
  return "numbers";
}

void set_thread_functions(FunctionOpener opener) {
  const std::lock_guard lock(opener_mutex);
  thread_opener() = std::move(opener);
}

std::string placed_library(const std::string& library) {
  const std::size_t colon = library.rfind(':');
  if (colon == std::string::npos) return library;
  const std::filesystem::path path = library.substr(0, colon);
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return library;
  const std::filesystem::path placed = std::filesystem::absolute(path, failed);
  return failed ? library : placed.string() + library.substr(colon);
}

std::unique_ptr<SampleFunction> open_function(const FunctionSpec& spec, std::vector<ValueMeaning> taken,
                                              std::stop_token stop) {
  if (!spec.library.empty() && !spec.is_isolated) return std::make_unique<LibraryFunction>(spec, taken.size());
  if (spec.home == FunctionHome::kProcess || spec.is_isolated) {
    return std::make_unique<PythonFunction>(spec, taken, std::move(stop));
  }
  const std::lock_guard lock(opener_mutex);
  if (!thread_opener()) {
    fail(ErrorKind::kUsage, "function '{}' is to run in a thread, and this program has no interpreter: use a process",
         spec.name);
  }
  return thread_opener()(spec, std::move(taken));
}

}  // namespace stoker
