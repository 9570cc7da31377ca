// What a call throws.
#pragma once

#include <gtest/gtest.h>

#include "stoker/base/error.h"

namespace stoker {

/// The Error that `action` throws; a test failure if it throws none.
template <typename Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::kClosed, "");
}

}  // namespace stoker
