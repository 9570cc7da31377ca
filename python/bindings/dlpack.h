// DLPack: how frameworks hand each other tensors without copying. The structures are laid out as DLPack 1.0 prescribes;
// both the unversioned form (which PyTorch 1.13 takes) and the versioned one are made.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "stoker/tensor/batch.h"

namespace stoker::dlpack {

constexpr std::int32_t kCpu = 1, kCuda = 2;

struct Device {
  std::int32_t type = kCpu;
  std::int32_t id = 0;
};

struct DataType {
  std::uint8_t code;  // 0 signed, 1 unsigned, 2 IEEE float, 4 bfloat
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements
  std::uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

// Flags.
constexpr std::uint64_t kReadOnly = 1;
constexpr std::uint64_t kCopied = 2;  // made for this consumer

struct ManagedVersioned {
  std::uint32_t version_major, version_minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

DataType data_type(DType dtype);

struct ExportOptions {
  bool versioned = false;
  bool copy = false;
  bool read_only = false;  // which the unversioned form has no word for
};

/// A capsule for a framework to consume. It, and then the framework's tensor, holds `owner`, in whose memory `view`
/// lies on `device`, or the copy that was asked for (on the CPU only); letting go needs no interpreter lock.
nanobind::object make_capsule(TensorView view, Device device, std::shared_ptr<const void> owner, ExportOptions options);

}  // namespace stoker::dlpack
