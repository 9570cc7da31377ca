#include "stoker/device/cuda/nvjpeg_decoder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvjpeg.h>

#include "stoker/base/error.h"

namespace stoker {

// What is called of it. Other major versions than the header's may differ from it.
struct NvjpegDecoder::Library {
  explicit Library(const std::string& gpu) : name(fmt::format("libnvjpeg.so.{}", NVJPEG_VER_MAJOR)) {
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) refuse(gpu);
    // Never closed: like CUDA's other libraries it keeps state in the process.
    find("nvjpegCreateSimple", create, gpu);
    find("nvjpegDestroy", destroy, gpu);
    find("nvjpegJpegStateCreate", create_state, gpu);
    find("nvjpegJpegStateDestroy", destroy_state, gpu);
    find("nvjpegGetImageInfo", image_info, gpu);
    find("nvjpegDecode", decode, gpu);
  }

  std::string name;
  void* handle = nullptr;
  decltype(&nvjpegCreateSimple) create = nullptr;
  decltype(&nvjpegDestroy) destroy = nullptr;
  decltype(&nvjpegJpegStateCreate) create_state = nullptr;
  decltype(&nvjpegJpegStateDestroy) destroy_state = nullptr;
  decltype(&nvjpegGetImageInfo) image_info = nullptr;
  decltype(&nvjpegDecode) decode = nullptr;

 private:
  template <class Function>
  void find(const char* function_name, Function& function, const std::string& gpu) {
    function = reinterpret_cast<Function>(dlsym(handle, function_name));
    if (!function) refuse(gpu);
  }

  [[noreturn]] static void refuse(const std::string& gpu) {
    const char* const reason = dlerror();
    fail(ErrorKind::kNotFound,
         "{}: nvJPEG cannot be opened ({}); install nvJPEG of CUDA {} where the dynamic linker finds it, or leave "
         "nvjpeg out",
         gpu, reason ? reason : "no reason given", NVJPEG_VER_MAJOR);
  }
};

namespace {

// Whether the status blames the file; throws for any other failure.
bool is_refusal(nvjpegStatus_t status, const std::string& gpu) {
  switch (status) {
    case NVJPEG_STATUS_SUCCESS: return false;
    case NVJPEG_STATUS_BAD_JPEG:
    case NVJPEG_STATUS_JPEG_NOT_SUPPORTED:
    case NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED:
    case NVJPEG_STATUS_INCOMPLETE_BITSTREAM: return true;
    case NVJPEG_STATUS_ALLOCATOR_FAILURE:
      fail(ErrorKind::kMemory, "{}: nvJPEG has no memory left; use a smaller batch or prefetch, or leave nvjpeg out",
           gpu);
    default: fail(ErrorKind::kIo, "{}: nvJPEG has failed with status {}", gpu, static_cast<int>(status));
  }
}

}  // namespace

struct NvjpegDecoder::Session {
  Session(const Library& of, const std::string& gpu) : library(of) {
    if (is_refusal(library.create(&handle), gpu)) fail(ErrorKind::kNotFound, "{}: nvJPEG does not work on it", gpu);
    if (is_refusal(library.create_state(handle, &state), gpu)) {
      library.destroy(handle);
      fail(ErrorKind::kNotFound, "{}: nvJPEG does not work on it", gpu);
    }
  }
  ~Session() {
    library.destroy_state(state);
    library.destroy(handle);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Library& library;
  nvjpegHandle_t handle = nullptr;
  nvjpegJpegState_t state = nullptr;
};

NvjpegDecoder::NvjpegDecoder(const GpuContext& gpu)
    : name_(gpu.name()),
      library_(std::make_unique<Library>(name_)),
      session_(std::make_unique<Session>(*library_, name_)) {}

NvjpegDecoder::~NvjpegDecoder() = default;

// One image at a time: of a batch that it is given at once nvJPEG does not tell which file it refused.
bool NvjpegDecoder::decode(const DeviceDecode& file, cudaStream_t stream) {
  const Library& nvjpeg = *library_;
  int components = 0, widths[NVJPEG_MAX_COMPONENT] = {}, heights[NVJPEG_MAX_COMPONENT] = {};
  nvjpegChromaSubsampling_t sampling{};
  if (is_refusal(nvjpeg.image_info(session_->handle, file.file.data(), file.file.size(), &components, &sampling, widths,
                                   heights),
                 name_)) {
    return false;
  }
  // It writes as much as it takes the file for, and knows nothing of the room.
  bool fits = components == file.plane_count;
  nvjpegImage_t planes{};
  for (int i = 0; i < file.plane_count; ++i) {
    const DeviceDecode::Plane& plane = file.plane[i];
    fits = fits && widths[i] == plane.width && heights[i] == plane.height;
    planes.channel[i] = plane.samples;
    planes.pitch[i] = plane.row_stride;
  }
  if (!fits) return false;
  const nvjpegOutputFormat_t format = file.plane_count == 1 ? NVJPEG_OUTPUT_Y : NVJPEG_OUTPUT_YUV;
  return !is_refusal(
      nvjpeg.decode(session_->handle, session_->state, file.file.data(), file.file.size(), format, &planes, stream),
      name_);
}

}  // namespace stoker
