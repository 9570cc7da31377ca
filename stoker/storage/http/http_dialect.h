// What a store that speaks more than plain HTTP adds to it: fields that give access, and what refusals mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/http/response_head.h"
#include "stoker/storage/http/verdict.h"

namespace stoker {

struct HttpCall;

/// Threads: any; the driver's must not wait, which calls all but prepare().
class HttpDialect {
 public:
  virtual ~HttpDialect() = default;

  /// Called before a call is started, by the thread that starts it, which may wait: renews what gives access, if it
  /// expires before long. What it throws becomes the call's error.
  virtual void prepare() const {}

  /// Appends the lines, "Name: value", that the call's request is to carry. Made anew each time that it is sent, since
  /// signatures expire, and never sent to another origin than that of the call's URL.
  virtual void add_fields(const HttpCall& call, std::vector<std::string>& lines) const = 0;

  /// Given the verdict on an answer that is an error, and the document that came with it (its first 64 KB), may say
  /// better what is wrong, and whether asking again can help.
  virtual void explain(const HttpCall& call, const ResponseHead& head, std::string_view document,
                       Verdict& verdict) const = 0;
};

}  // namespace stoker
