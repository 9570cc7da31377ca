// How an AVIF file begins: formats tell such images from other bytes by it, and their decoder begins with it.
#pragma once

#include "stoker/base/bytes.h"

namespace stoker {

/// Whether a file of boxes names AVIF as its brand or among those that it is compatible with, so far as they are there.
bool has_avif_magic(Bytes encoded);

}  // namespace stoker
