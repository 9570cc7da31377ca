#include "stoker/codec/jpeg/libjpeg/libjpeg_errors.h"

#include <jerror.h>

namespace stoker {
namespace {

void no_message(j_common_ptr) {}

}  // namespace

LibjpegErrors::LibjpegErrors() {
  jpeg_std_error(&hooks_.base);
  hooks_.owner = this;
  hooks_.base.output_message = no_message;
  // Warnings are concealed faults, which are counted, and traces are of no use: neither is formatted.
  hooks_.base.emit_message = [](j_common_ptr object, int level) {
    if (level >= 0) return;
    ++object->err->num_warnings;
    if (object->err->msg_code == JWRN_JPEG_EOF) of(object).ran_out_ = true;
  };
  hooks_.base.error_exit = [](j_common_ptr object) {
    LibjpegErrors& errors = of(object);
    if (object->err->msg_code == JERR_OUT_OF_MEMORY) errors.kind_ = ErrorKind::kMemory;
    object->err->format_message(object, errors.message_);
    std::longjmp(errors.jump_, 1);
  };
}

void LibjpegErrors::give_up(ErrorKind kind, const char* message) {
  kind_ = kind;
  std::snprintf(message_, sizeof message_, "%s", message);
  std::longjmp(jump_, 1);
}

}  // namespace stoker
