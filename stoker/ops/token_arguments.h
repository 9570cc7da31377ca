// The arguments of decode_tokens, for its row in the table.
#pragma once

#include "stoker/ops/operator_table.h"

namespace stoker {

inline constexpr double kTokensMax = 1 << 24, kTokenMax = 2147483647;
inline constexpr ArgSpec kDecodeTokensArgs[] = {
    {.name = "length",
     .type = ArgType::kInteger,
     .doc = "places of a sequence",
     .required = true,
     .min = 1,
     .max = kTokensMax},
    {.name = "part",
     .type = ArgType::kText,
     .doc =
         "what is wanted of each place: its token, the one after it, its place in its document, the document's number",
     .text = "inputs",
     .choices = "inputs|targets|positions|documents"},
    {.name = "type",
     .type = ArgType::kText,
     .doc = "how tokens are stored, such as u16; empty: as the field's name ends"},
    {.name = "eod",
     .type = ArgType::kInteger,
     .doc = "the token that ends a document, which part='documents' needs; -1: none does",
     .numbers = {-1},
     .min = -1,
     .max = kTokenMax},
    {.name = "pad",
     .type = ArgType::kInteger,
     .doc = "the token after the end of a sample that is shorter; targets are -100 there",
     .numbers = {0},
     .min = 0,
     .max = kTokenMax},
    {.name = "longer",
     .type = ArgType::kText,
     .doc = "a sample that is longer is bad; or its beginning is taken, or any part of it",
     .text = "refuse",
     .choices = "refuse|cut|random"}};

}  // namespace stoker
