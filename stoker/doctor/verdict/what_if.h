// The words of a what-if: "cores=16 disk=nvme gpus=8 layout=packed cache=ram".
#pragma once

#include <string>
#include <string_view>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/configuration.h"
#include "stoker/doctor/verdict/catalogue.h"

namespace stoker {

constexpr int kNodeGpusMost = 64;  // that a question may ask about

/// Words apart by spaces or commas: cores, threads, memory, disk, network, gpu, gpus, nodes, layout, cache,
/// transfer-index, io-depth, prefetch, batch, order, step, without. Throws kUsage for a word that is not known (with
/// the nearest one), is given twice, or has a value that cannot be, of these facts.
Configuration parse_what_if(std::string_view text, const Facts& facts, const Catalogue& catalogue);

/// That the step was measured on, or that its profile names: of the catalogue. Null if it is not known.
const GpuClass* own_gpu(const Facts& facts, const Catalogue& catalogue);

/// As parse_what_if() takes it, in the order of its list; empty for an empty configuration.
std::string what_if_text(const Configuration& change);

}  // namespace stoker
