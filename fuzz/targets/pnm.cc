// PNM images.
#include "stoker/codec/pnm_decoder.h"

#include "fuzz/fuzz_target.h"
#include "fuzz/window_check.h"

namespace stoker {
namespace {

const AnnounceFuzzTarget kTarget({.name = "pnm", .run = check_windows<PnmDecoder>});

}  // namespace
}  // namespace stoker
