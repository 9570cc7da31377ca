// Writes an archive of arrays (.npz) as numpy.savez does: a zip whose members are stored as they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/format/npy/npy_array.h"
#include "stoker/storage/object_writer.h"

namespace stoker {

/// The file takes its name in finish(); a writer destroyed before that leaves nothing. Its bytes depend on what is
/// added alone. Threads: one. All calls throw kIo naming the object.
class NpzWriter {
 public:
  explicit NpzWriter(std::unique_ptr<ObjectWriter> object) : object_(std::move(object)) {}

  /// Adds an array of this type and shape, with its values as they lie in a file. Throws kLimit for more than 4 GiB in
  /// all, which a plain zip cannot hold.
  void add(const std::string& name, const NpyArray& array, Bytes values);
  void finish();

 private:
  void write(Bytes bytes);

  std::unique_ptr<ObjectWriter> object_;
  std::vector<std::uint8_t> directory_;
  std::uint16_t members_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace stoker
