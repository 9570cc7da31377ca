#include "stoker/storage/http/http_round.h"

#include "stoker/base/pending.h"

namespace stoker {

HttpCall& HttpRound::add(const HttpObject& object, std::string_view doing) {
  Asked& asked = asked_.emplace_back(Asked{.host = transport_.host_of(object.url), .call = {}});
  HttpCall& call = asked.call;
  call.url = object.url;
  call.name = object.name;
  call.dialect = object.dialect.get();
  call.doing = doing;
  call.host = asked.host.get();
  call.keeps_fields = object.dialect != nullptr;  // which may explain a refusal that has no document
  return call;
}

void HttpRound::run() {
  Pending pending;
  for (Asked& asked : asked_) {
    asked.call.context = &pending;
    asked.call.done = [](HttpCall& ended) noexcept { static_cast<Pending*>(ended.context)->end(); };
    pending.begin();
    transport_.start(asked.call);
  }
}

}  // namespace stoker
