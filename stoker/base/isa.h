// Which instruction set the SIMD kernels run on. Kernels are compiled for several and chosen at run time: on first use
// the best, or the one that STOKER_ISA in the environment forces; tests run on each in turn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// The instruction sets this machine can run, best first: of "avx3_dl" (AVX-512 with VBMI and VNNI), "avx3" (AVX-512),
/// "avx2", "sse4", "scalar". Kernels that have no use for the first run as with the second.
std::vector<std::string> available_isas();

/// What kernels use from now on. Not to be called while kernels run.
/// Throws kUsage when `name` is unknown or not there; an empty name means the best (or STOKER_ISA, if set).
void select_isa(std::string_view name);

/// Makes that choice unless it is made: what runs kernels calls it first. Throws kUsage when STOKER_ISA names one that
/// is unknown or not there. Threads: any.
void settle_isa();

/// The instruction set in use; settles it.
std::string active_isa();

}  // namespace stoker
