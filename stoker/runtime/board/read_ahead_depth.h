// How many bytes of encoded samples are read ahead of the workers: as few as keep them busy. What was read a moment ago
// is still in the processor's caches, and what is written over is, too. Slow storage takes more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

/// Takes no locks: the engine calls it under its own.
class ReadAheadDepth {
 public:
  ReadAheadDepth(std::size_t least, std::size_t most);

  std::size_t bytes() const { return bytes_; }

  /// A sample of this size is to be read: some of its size are to fit.
  void wants(std::size_t sample_bytes);
  /// So many bytes were granted. When many have been, and no worker has starved, fewer may do.
  void granted(std::size_t bytes);
  /// A worker had nothing to do for so long, and there was no room to read more. Once, and shortly, that may be: where
  /// the reader has to share a core, say.
  void starved(std::int64_t ns);

 private:
  const std::size_t least_, most_;
  std::size_t bytes_;
  std::size_t patience_;         // how often its size is read without a starving worker before less is tried
  std::size_t quiet_bytes_ = 0;  // granted since it changed, or a worker starved
  std::size_t tried_bytes_ = 0;  // granted since less was tried
  bool tries_ = false;           // whether it is not known yet if that is enough
  int starved_times_ = 0;        // in short succession
};

}  // namespace stoker
