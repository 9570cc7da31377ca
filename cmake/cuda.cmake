# Building for GPUs. The runtime is linked into the program, and looks for a driver only when a GPU is asked for.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75 80 90 CACHE STRING "GPUs to build for; the newest also for those that come after it")
endif()
enable_language(CUDA)
find_package(CUDAToolkit 13 REQUIRED)
# For its types alone: the library is opened when it is wanted, by its name.
find_path(STOKER_NVJPEG_INCLUDE nvjpeg.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED
  DOC "Where nvjpeg.h is; ./dev build --cuda finds it, or fetches it from PyPI")

# CMake 3.25 does not know that nvcc speaks C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
# Products and sums round one by one, as on the host (cmake/layers.cmake). nvcc warns of conversions that a `requires`
# rules out.
string(APPEND CMAKE_CUDA_FLAGS " --fmad=false --expt-relaxed-constexpr -diag-suppress=554")
