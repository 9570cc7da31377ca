// nvJPEG, which is not part of the program: its library is opened only on request.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "stoker/device/cuda/cuda_check.h"
#include "stoker/device/device.h"

namespace stoker {

class NvjpegDecoder {
 public:
  /// To be made under OnGpu, under which all of its methods are called. Throws kNotFound where there is no library of
  /// the version that this was built for.
  explicit NvjpegDecoder(const GpuContext& gpu);
  ~NvjpegDecoder();
  NvjpegDecoder(const NvjpegDecoder&) = delete;
  NvjpegDecoder& operator=(const NvjpegDecoder&) = delete;

  /// Reads the file's codes here and now, and hands the rest to the stream, always the same one. False if it refuses
  /// the file. One thread at a time. Throws kMemory, kIo.
  bool decode(const DeviceDecode& file, cudaStream_t stream);

 private:
  struct Library;
  struct Session;

  const std::string name_;
  std::unique_ptr<Library> library_;
  std::unique_ptr<Session> session_;
};

}  // namespace stoker
