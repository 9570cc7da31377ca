// What a store that speaks more than plain HTTP adds to it: fields that give access, and what refusals mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/http/response_head.h"
#include "stoker/storage/http/verdict.h"

namespace stoker {

struct HttpCall;

/// Threads: any; none of its functions may wait, since the driver's thread calls them.
class HttpDialect {
 public:
  virtual ~HttpDialect() = default;

  /// Whether what gives access is there. If not, the dialect gets it meanwhile, and the call waits until this is true.
  virtual bool ready() const { return true; }

  /// Whether a redirect leads to the object; else it is a refusal, which explain() may explain.
  virtual bool follows_redirects() const { return true; }

  /// Appends the lines, "Name: value", that the call's request is to carry. Made anew each time that it is sent, since
  /// signatures expire, and never sent to another origin than that of the call's URL. What it throws becomes the
  /// call's error.
  virtual void add_fields(const HttpCall& call, std::vector<std::string>& lines) const = 0;

  /// Given the verdict on an answer that is an error, and the document that came with it (its first 64 KB), may say
  /// better what is wrong, and whether asking again can help.
  virtual void explain(const HttpCall& call, const ResponseHead& head, std::string_view document,
                       Verdict& verdict) const = 0;
};

}  // namespace stoker
