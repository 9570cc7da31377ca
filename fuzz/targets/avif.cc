// AVIF images.
#include "stoker/codec/avif/avif_decoder.h"

#include "fuzz/fuzz_target.h"
#include "fuzz/window_check.h"

namespace stoker {
namespace {

const AnnounceFuzzTarget kTarget({.name = "avif", .run = check_windows<AvifDecoder>, .places_max = 300});

}  // namespace
}  // namespace stoker
