// A recipe for requests instead of a data set, as inference needs it: from bytes, files or URLs, with the pixels of
// training. The plan is made once; threads, their memory and batches are used again.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/plan/recipe.h"
#include "stoker/runtime/request.h"
#include "stoker/storage/store_options.h"
#include "stoker/tensor/batch.h"

namespace stoker {

class RequestEngine;

struct PreprocessorOptions {
  int threads = 0;              // that work at the same time, for all callers; 0: as many as there are cores
  std::int64_t pixels_max = 0;  // refuse images of more pixels; 0: the usual limit
  StoreOptions store{};
};

/// Threads: any; several may call run() at once, and share the threads that work.
class Preprocessor {
 public:
  /// Throws kUsage for a recipe that cannot run, or one whose outputs differ in size from image to image, and kMemory.
  explicit Preprocessor(const Recipe& recipe, const PreprocessorOptions& options = {});
  ~Preprocessor();
  Preprocessor(const Preprocessor&) = delete;
  Preprocessor& operator=(const Preprocessor&) = delete;

  /// The fields that an item must have: "image" or a field's name.
  const std::vector<std::string>& fields() const;
  /// Those of them that may be given without bytes, as if the item lacked them.
  const std::vector<std::string>& optional_fields() const;
  int threads() const;

  /// A slot for each item, in their order, with the pixels that a loader makes of such a sample; samples are not mixed.
  /// The batch's memory is used again when its last holder lets go. Throws what is wrong with the first bad item, which
  /// the sentence names; where bad items are kept, Batch::status and Batch::errors tell. Throws kClosed when asked to
  /// stop, and kUsage in a process forked from the one that made this.
  std::shared_ptr<const Batch> run(const Request& request, const std::stop_token& stop = {});

 private:
  std::unique_ptr<RequestEngine> engine_;
};

}  // namespace stoker
