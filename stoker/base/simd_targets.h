// The instruction sets the kernels are compiled for: AVX3, AVX2, SSE4 and plain C++ (Highway's EMU128), and for those
// that gain by it AVX3_DL (AVX-512 with VBMI and VNNI): they define STOKER_SIMD_AVX3_DL first. On ARM: NEON and plain
// C++; not SVE, whose vectors cannot be members. stoker/base/isa.h names them all. To be included before any Highway
// header.
#pragma once

#define HWY_COMPILE_ALL_ATTAINABLE
#define STOKER_SIMD_NEVER (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#ifdef STOKER_SIMD_AVX3_DL
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS STOKER_SIMD_NEVER
#else
#define HWY_DISABLED_TARGETS (STOKER_SIMD_NEVER | HWY_AVX3_DL)
#endif
// Highway avoids EMU128 with g++ before 12.3, which may miscompile the upper half of a product (GCC bug 106322). No
// kernel takes upper halves, and HWY_SCALAR, the other choice, has vectors of one lane only.
#define HWY_BROKEN_EMU128 0
