#include "stoker/runtime/preprocessor.h"

#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/runtime/preprocess/request_engine.h"

namespace stoker {
namespace {

RequestEngine::Options resolved(const PreprocessorOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  return {.threads = options.threads == 0 ? usable_cores() : options.threads,
          .limits = options.pixels_max == 0 ? DecodeLimits() : DecodeLimits::up_to(options.pixels_max),
          .store = options.store};
}

}  // namespace

Preprocessor::Preprocessor(const Recipe& recipe, const PreprocessorOptions& options)
    : engine_(std::make_unique<RequestEngine>(recipe, resolved(options))) {}

Preprocessor::~Preprocessor() = default;

const std::vector<std::string>& Preprocessor::fields() const { return engine_->plan().fields(); }

const std::vector<std::string>& Preprocessor::optional_fields() const { return engine_->plan().optional_fields(); }

int Preprocessor::threads() const { return engine_->threads(); }

std::shared_ptr<const Batch> Preprocessor::run(const Request& request, const std::stop_token& stop) {
  return engine_->run(request, stop);
}

}  // namespace stoker
