#include "stoker/ops/token_options.h"

#include "stoker/base/error.h"
#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<TokenPart> kTokenParts[] = {{TokenPart::kInputs, "inputs"},
                                           {TokenPart::kTargets, "targets"},
                                           {TokenPart::kPositions, "positions"},
                                           {TokenPart::kDocuments, "documents"},
                                           {TokenPart::kMask, "mask"}};
constexpr Word<TokenOptions::Longer> kLongerTokens[] = {{TokenOptions::Longer::kRefuse, "refuse"},
                                                        {TokenOptions::Longer::kCut, "cut"},
                                                        {TokenOptions::Longer::kRandom, "random"}};

}  // namespace

void apply_decode_tokens(const OperatorCall& call, TokenOptions& options) {
  options.length = call.integer("length");
  options.part = value_of(kTokenParts, call.text("part"), "not a part of tokens");
  if (const std::string& type = call.text("type"); !type.empty()) options.type = parse_token_type(type);
  if (const int eod = call.integer("eod"); eod >= 0) options.eod = eod;
  if (options.part == TokenPart::kDocuments && !options.eod) {
    fail(ErrorKind::kUsage, "documents are told apart by the token that ends each of them; give its number as eod");
  }
  options.pad = call.integer("pad");
  options.longer = value_of(kLongerTokens, call.text("longer"), "not what can be done with longer ones");
}

}  // namespace stoker
