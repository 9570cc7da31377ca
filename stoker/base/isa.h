// The instruction set that SIMD kernels run on. Kernels are compiled for several and chosen at run time: on first use
// the best one, or the one that the environment variable STOKER_ISA names; tests run on each in turn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// The instruction sets this machine can run, best first: of "avx3_dl" (AVX-512 with VBMI and VNNI), "avx3" (AVX-512),
/// "avx2", "sse4", "neon" (of ARM), "scalar". Kernels that do not use the first run as on the second.
std::vector<std::string> available_isas();

/// Selects what kernels use from now on. Not to be called while kernels run.
/// Throws kUsage when `name` is unknown or this machine lacks it; an empty name means the best (or STOKER_ISA, if set).
void select_isa(std::string_view name);

/// Selects the best (or STOKER_ISA, if set) unless a choice was made: code that runs kernels calls it first. Throws
/// kUsage when STOKER_ISA names one that is unknown or that this machine lacks. Threads: any.
void ensure_isa();

/// The instruction set in use; makes the choice if none was made.
std::string active_isa();

}  // namespace stoker
