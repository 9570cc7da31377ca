#include "stoker/codec/decode_request.h"

#include "stoker/base/error.h"

namespace stoker {

void check_decode_request(const ImageFacts& facts, int header_width, int header_height, Rect window) {
  if (header_width != facts.width || header_height != facts.height) {
    fail(ErrorKind::kBadSample,
         "the image's header says {} x {} pixels where {} x {} were expected: the file has changed", header_width,
         header_height, facts.width, facts.height);
  }
  const bool inside = window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
                      window.width <= facts.width - window.x && window.height <= facts.height - window.y;
  if (!inside) {
    fail(ErrorKind::kUsage, "the window of {} x {} pixels at ({}, {}) is not inside the image of {} x {}", window.width,
         window.height, window.x, window.y, facts.width, facts.height);
  }
}

}  // namespace stoker
