// libjpeg reports errors by a callback that must not return. Here the callback jumps back to `attempt`, and the caller
// throws from C++ code: an exception never passes through frames of C.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include "stoker/base/error.h"

namespace stoker {

class LibjpegErrors {
 public:
  LibjpegErrors();
  LibjpegErrors(const LibjpegErrors&) = delete;
  LibjpegErrors& operator=(const LibjpegErrors&) = delete;

  /// To be set as `err` of a libjpeg object, before jpeg_create_*.
  jpeg_error_mgr* manager() { return &hooks_.base; }

  /// Runs `work`, which may call libjpeg; false if it gave up (see kind, message). Everything alive in `work` and below
  /// must be trivially destructible: it is jumped over.
  template <typename Work>
  bool attempt(const Work& work) {
    kind_ = ErrorKind::kBadSample;
    message_[0] = '\0';
    if (setjmp(jump_) != 0) return false;
    work();
    return true;
  }
  /// From within `work`: gives up for a reason of our own.
  [[noreturn]] void give_up(ErrorKind kind, const char* message);

  /// The LibjpegErrors whose manager a libjpeg object has.
  static LibjpegErrors& of(j_common_ptr object) { return *reinterpret_cast<Hooks*>(object->err)->owner; }

  ErrorKind kind() const { return kind_; }
  const char* message() const { return message_; }

  /// Whether libjpeg was given all bytes, and wanted more: it made up an end of the image then.
  bool ran_out() const { return ran_out_; }
  /// For the next image.
  void forget() { ran_out_ = false; }

 private:
  struct Hooks {
    jpeg_error_mgr base;  // first: libjpeg's pointer to it is a pointer to the whole
    LibjpegErrors* owner;
  };

  Hooks hooks_{};
  std::jmp_buf jump_{};
  ErrorKind kind_ = ErrorKind::kBadSample;
  char message_[JMSG_LENGTH_MAX] = "";
  bool ran_out_ = false;
};

}  // namespace stoker
