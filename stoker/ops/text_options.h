// The arguments of decode_text and decode_bytes: which bytes of a field a batch holds.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/ops/operator_call.h"

namespace stoker {

struct TextOptions {
  bool is_text = false;      // UTF-8, and nothing else
  std::string key{};         // of a text in JSON, or a JSON pointer to one; empty: all of the field
  int most = 0;              // bytes
  bool is_optional = false;  // no bytes are an empty text, also in JSON
  bool cuts = false;         // what is longer is cut off, a text between two characters; else its sample is bad
};

void apply_decode_text(const OperatorCall& call, TextOptions& options);
void apply_decode_bytes(const OperatorCall& call, TextOptions& options);

}  // namespace stoker
