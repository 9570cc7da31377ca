#include "stoker/runtime/engine/enough_memory.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {

EnoughMemory::EnoughMemory(std::shared_ptr<const Dataset> dataset, const Plan& plan, ResolvedOptions options)
    : dataset_(std::move(dataset)), plan_(plan), options_(std::move(options)) {
  options_.given.progress = nullptr;  // a user's callbacks, which may not outlive what they were made for
  options_.given.tuned = nullptr;
}

std::string EnoughMemory::text(const SampleNeeds& needs) const {
  const std::lock_guard lock(mutex_);
  if (!largest_) {
    largest_.emplace();
    try {
      largest_ = largest_needs(*dataset_, plan_, options_.given.limits);
    } catch (const Error&) {  // what is wrong with other samples is for their tickets to say
    }
  }
  const SampleNeeds all{.sample_bytes = std::max(needs.sample_bytes, largest_->sample_bytes),
                        .decode_bytes = std::max(needs.decode_bytes, largest_->decode_bytes)};
  return whole_megabytes(memory_for(*dataset_, plan_, options_, all)) + " of memory";
}

}  // namespace stoker
