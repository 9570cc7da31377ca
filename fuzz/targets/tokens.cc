// Indexes of files of tokens. The first two bytes are the size of the file of tokens.
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/tokens/megatron_index.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

void run(Bytes input) {
  if (input.size() < 2) return;
  const auto bin_bytes = load_little_endian<std::uint16_t>(input.data());
  const auto source = std::make_shared<MemorySource>("fuzzed.idx", std::vector(input.begin() + 2, input.end()));
  std::vector<std::uint64_t> begins;
  std::uint64_t tokens = 0;
  const auto read = [&] {
    const MegatronIndex index(source, bin_bytes);
    tokens = index.tokens();
    require_that(tokens * size_of(index.type()) <= bin_bytes, "no more tokens than the file has");
    begins = index.document_begins();
  };
  if (!accepts({ErrorKind::kData}, read)) return;
  require_that(!begins.empty() && begins.back() == tokens, "documents end with the tokens");
  for (std::size_t i = 1; i < begins.size(); ++i)
    require_that(begins[i - 1] < begins[i], "documents follow each other");
}

const AnnounceFuzzTarget kTarget({.name = "tokens", .run = run});

}  // namespace
}  // namespace stoker
