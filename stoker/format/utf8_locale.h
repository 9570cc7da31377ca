// libarchive converts member names through the thread's locale. While one of these lives, the thread's is C.UTF-8, so
// that a name's bytes do not depend on how the process was started.
#pragma once

#include <locale.h>

namespace stoker {

class Utf8Locale {
 public:
  Utf8Locale() {
    // Made once and kept: making one reads files.
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8 != nullptr) previous_ = ::uselocale(utf8);
  }
  ~Utf8Locale() {
    if (previous_ != nullptr) ::uselocale(previous_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t previous_ = nullptr;  // null where the system has no C.UTF-8
};

}  // namespace stoker
