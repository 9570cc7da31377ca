// The arguments of decode_tokens, for its row in the table.
#pragma once

#include "stoker/ops/operator_table.h"

namespace stoker {

inline constexpr double kTokensMax = 1 << 24, kTokenMax = 2147483647;
inline constexpr ArgSpec kDecodeTokensArgs[] = {
    {.name = "length",
     .type = ArgType::kInteger,
     .doc = "tokens in a sequence",
     .required = true,
     .min = 1,
     .max = kTokensMax},
    {.name = "part",
     .type = ArgType::kText,
     .doc = "for each place of the sequence: inputs: its token; targets: the next token; positions: its position in "
            "its document; documents: the number of its document",
     .text = "inputs",
     .choices = "inputs|targets|positions|documents"},
    {.name = "type",
     .type = ArgType::kText,
     .doc = "the type in which tokens are stored, such as u16; empty: the ending of the field's name"},
    {.name = "eod",
     .type = ArgType::kInteger,
     .doc = "the token that ends a document, needed for part='documents'; -1: there is none",
     .numbers = {-1},
     .min = -1,
     .max = kTokenMax},
    {.name = "pad",
     .type = ArgType::kInteger,
     .doc = "the token that fills up shorter samples; their targets are -100 there",
     .numbers = {0},
     .min = 0,
     .max = kTokenMax},
    {.name = "longer",
     .type = ArgType::kText,
     .doc = "what happens to longer samples: refuse: they are bad samples; cut: the beginning is used; random: a "
            "random part is used",
     .text = "refuse",
     .choices = "refuse|cut|random"}};

}  // namespace stoker
