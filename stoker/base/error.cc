#include "stoker/base/error.h"

#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<ErrorKind> kErrorKinds[] = {
    {ErrorKind::kUsage, "usage"},   {ErrorKind::kNotFound, "not_found"},   {ErrorKind::kIo, "io"},
    {ErrorKind::kData, "data"},     {ErrorKind::kBadSample, "bad_sample"}, {ErrorKind::kLimit, "limit"},
    {ErrorKind::kMemory, "memory"}, {ErrorKind::kClosed, "closed"}};

}  // namespace

std::string_view to_string(ErrorKind kind) { return word_of(kErrorKinds, kind); }

}  // namespace stoker
