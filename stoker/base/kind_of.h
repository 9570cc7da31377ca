// What an exception says that was caught elsewhere.
#pragma once

#include <exception>
#include <optional>

#include "stoker/base/error.h"

namespace stoker {

/// The kind of an Error; nothing for any other exception.
inline std::optional<ErrorKind> kind_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error.kind();
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace stoker
