// How remote stores are reached, where the variables of their own tools are not to say it.
#pragma once

#include <string>

namespace stoker {

struct StoreOptions {
  std::string endpoint{};  // the URL of a service that speaks S3's protocol
  std::string region{};
  bool anonymous = false;  // no keys are looked for, and requests are not signed
};

}  // namespace stoker
