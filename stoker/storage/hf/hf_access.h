// How the hub is reached, by the variables that huggingface_hub reads.
#pragma once

#include <string>

#include "stoker/base/environment.h"

namespace stoker {

struct HfAccess {
  std::string endpoint = "https://huggingface.co";  // without a slash at its end
  std::string token{};                              // empty: no user is logged in
  bool offline = false;                             // nothing is to be asked of the hub

  /// HF_ENDPOINT, HF_HUB_OFFLINE, and the token: HF_TOKEN, else HUGGING_FACE_HUB_TOKEN, else what the file that
  /// HF_TOKEN_PATH names holds, by default `token` in HF_HOME. Throws kUsage for an endpoint that is not a URL and for
  /// a token that cannot be sent, kIo for a file that may not be read.
  /// `anonymous`: no token is looked for.
  static HfAccess from(const Environment& environment, bool anonymous = false);
};

}  // namespace stoker
