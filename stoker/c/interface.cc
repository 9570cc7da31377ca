#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/c/option_text.h"
#include "stoker/c/stoker.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/open.h"
#include "stoker/runtime/report/loader_report.h"
#include "stoker/tensor/batch.h"

static_assert(STOKER_RANK_MAX == stoker::Shape::kMaxRank);

struct StokerDataset {
  std::shared_ptr<const stoker::Dataset> dataset;
};

struct StokerRecipe {
  stoker::Recipe recipe;
};

struct StokerLoader {
  stoker::Loader loader;
  std::string state{}, report{};  // as they were returned last
};

struct StokerBatch {
  stoker::BatchPtr batch;
};

namespace stoker {
namespace {

thread_local std::string last_error;

StokerStatus status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return kStokerUsage;
    case ErrorKind::kNotFound: return kStokerNotFound;
    case ErrorKind::kIo: return kStokerIo;
    case ErrorKind::kData: return kStokerData;
    case ErrorKind::kBadSample: return kStokerBadSample;
    case ErrorKind::kLimit: return kStokerLimit;
    case ErrorKind::kMemory: return kStokerMemory;
    case ErrorKind::kClosed: return kStokerClosed;
  }
  return kStokerInternal;
}

// Without a throw: memory may be what is lacking.
void remember(std::string_view sentence) noexcept {
  try {
    last_error = sentence;
  } catch (...) {
    last_error.clear();
  }
}

/// What `work` returns; nothing that it throws gets past here.
template <typename Work>
int attempt(const Work& work) noexcept {
  try {
    return work();
  } catch (const Error& error) {
    remember(error.message());
    return status_of(error.kind());
  } catch (const std::bad_alloc&) {
    remember("the machine has no memory left");
    return kStokerMemory;
  } catch (const std::exception& error) {
    remember(error.what());
  } catch (...) {
    remember("something was thrown that is no error");
  }
  return kStokerInternal;
}

/// What the caller must give.
template <typename Type>
Type* given(Type* argument, std::string_view name) {
  if (!argument) fail(ErrorKind::kUsage, "the argument '{}' is NULL", name);
  return argument;
}

template <typename Options>
Options options_of(const char* const* texts) {
  Options options;
  for (; texts && *texts; ++texts) set_option(options, *texts);
  return options;
}

int give(BatchPtr batch, StokerBatch** into) {
  if (!batch) return kStokerEnd;
  *into = new StokerBatch{std::move(batch)};
  return kStokerOk;
}

// With an output that there is: throws kNotFound, naming those.
std::size_t number_of(const Batch& batch, std::string_view output) {
  const std::vector<OutputSpec>& outputs = batch.outputs();
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const OutputSpec& spec) { return spec.name == output; });
  if (found == outputs.end()) batch.output(output);
  return static_cast<std::size_t>(found - outputs.begin());
}

StokerTensor c_tensor(const TensorView& view, int gpu) {
  StokerTensor tensor{.data = view.data,
                      .dtype = to_string(view.dtype).data(),
                      .element_bytes = size_of(view.dtype),
                      .gpu = gpu,
                      .rank = static_cast<std::int32_t>(view.shape.rank()),
                      .shape = {}};
  std::copy(view.shape.extents().begin(), view.shape.extents().end(), tensor.shape);
  return tensor;
}

std::int64_t of_slot(const std::vector<std::int64_t>& numbers, std::int32_t slot) {
  return slot >= 0 && static_cast<std::size_t>(slot) < numbers.size() ? numbers[static_cast<std::size_t>(slot)] : -1;
}

}  // namespace
}  // namespace stoker

using stoker::attempt;

const char* stoker_version(void) { return STOKER_VERSION; }
const char* stoker_error(void) { return stoker::last_error.c_str(); }

int stoker_open(const char* const* paths, const char* const* options, StokerDataset** dataset) {
  return attempt([&] {
    stoker::given(dataset, "dataset");
    std::vector<std::string> all;
    for (const char* const* path = stoker::given(paths, "paths"); *path; ++path) all.emplace_back(*path);
    if (all.empty()) stoker::fail(stoker::ErrorKind::kUsage, "no path is given");
    *dataset = new StokerDataset{stoker::open(all, {}, stoker::options_of<stoker::OpenOptions>(options))};
    return kStokerOk;
  });
}

int64_t stoker_dataset_size(const StokerDataset* dataset) { return dataset->dataset->size(); }

const char* stoker_dataset_class(const StokerDataset* dataset, int64_t label) {
  const std::vector<std::string>& classes = dataset->dataset->classes();
  const bool is_one = label >= 0 && label < static_cast<int64_t>(classes.size());
  return is_one ? classes[static_cast<std::size_t>(label)].c_str() : nullptr;
}

void stoker_dataset_release(StokerDataset* dataset) { delete dataset; }

int stoker_recipe_load(const char* name_or_path, StokerRecipe** recipe) {
  return attempt([&] {
    stoker::given(recipe, "recipe");
    *recipe = new StokerRecipe{stoker::Recipe::load(stoker::given(name_or_path, "name_or_path"))};
    return kStokerOk;
  });
}

int stoker_recipe_parse(const char* toml, StokerRecipe** recipe) {
  return attempt([&] {
    stoker::given(recipe, "recipe");
    *recipe = new StokerRecipe{stoker::Recipe::from_toml(stoker::given(toml, "toml"))};
    return kStokerOk;
  });
}

void stoker_recipe_release(StokerRecipe* recipe) { delete recipe; }

int stoker_loader_create(const StokerDataset* dataset, const StokerRecipe* recipe, const char* const* options,
                         StokerLoader** loader) {
  return attempt([&] {
    const auto asked = stoker::options_of<stoker::LoaderOptions>(options);
    *stoker::given(loader, "loader") =
        new StokerLoader{{stoker::given(dataset, "dataset")->dataset, stoker::given(recipe, "recipe")->recipe, asked}};
    return kStokerOk;
  });
}

int64_t stoker_loader_batches_per_epoch(const StokerLoader* loader) { return loader->loader.batches_per_epoch(); }

int stoker_loader_start_epoch(StokerLoader* loader, int64_t epoch) {
  return attempt([&] {
    stoker::given(loader, "loader")->loader.start_epoch(epoch);
    return kStokerOk;
  });
}

int stoker_loader_next(StokerLoader* loader, StokerBatch** batch) {
  return attempt([&] {
    stoker::given(batch, "batch");
    return stoker::give(stoker::given(loader, "loader")->loader.next(), batch);
  });
}

int stoker_loader_next_within(StokerLoader* loader, int64_t milliseconds, StokerBatch** batch) {
  return attempt([&]() -> int {
    stoker::given(batch, "batch");
    std::optional<stoker::BatchPtr> next =
        stoker::given(loader, "loader")->loader.next_within(std::chrono::milliseconds(milliseconds));
    return next ? stoker::give(std::move(*next), batch) : kStokerLater;
  });
}

int stoker_loader_state(StokerLoader* loader, const char** json) {
  return attempt([&] {
    stoker::given(json, "json");
    loader->state = stoker::given(loader, "loader")->loader.state();
    *json = loader->state.c_str();
    return kStokerOk;
  });
}

int stoker_loader_load_state(StokerLoader* loader, const char* json) {
  return attempt([&] {
    stoker::given(loader, "loader")->loader.load_state(stoker::given(json, "json"));
    return kStokerOk;
  });
}

int stoker_loader_report(StokerLoader* loader, const char** json) {
  return attempt([&] {
    stoker::given(json, "json");
    loader->report = stoker::given(loader, "loader")->loader.report().json().dump();
    *json = loader->report.c_str();
    return kStokerOk;
  });
}

void stoker_loader_interrupt(StokerLoader* loader) {
  attempt([&] {  // in a child that was forked since the loader was made, it cannot
    loader->loader.interrupt();
    return kStokerOk;
  });
}
void stoker_loader_destroy(StokerLoader* loader) { delete loader; }

int32_t stoker_batch_size(const StokerBatch* batch) { return batch->batch->size(); }
int64_t stoker_batch_epoch(const StokerBatch* batch) { return batch->batch->epoch; }
int64_t stoker_batch_index(const StokerBatch* batch) { return batch->batch->index; }

const char* stoker_batch_output(const StokerBatch* batch, int32_t number) {
  const std::vector<stoker::OutputSpec>& outputs = batch->batch->outputs();
  const bool is_one = number >= 0 && static_cast<std::size_t>(number) < outputs.size();
  return is_one ? outputs[static_cast<std::size_t>(number)].name.c_str() : nullptr;
}

int stoker_batch_tensors(const StokerBatch* batch, const char* output, StokerTensor* tensors, int32_t room,
                         int32_t* count) {
  return attempt([&] {
    const stoker::Batch& held = *stoker::given(batch, "batch")->batch;
    const std::vector<stoker::TensorView> views =
        held.tensors(stoker::number_of(held, stoker::given(output, "output")));
    if (room > 0) stoker::given(tensors, "tensors");
    for (std::size_t i = 0; i < views.size() && static_cast<std::int64_t>(i) < room; ++i) {
      tensors[i] = stoker::c_tensor(views[i], held.gpu());
    }
    if (count) *count = static_cast<int32_t>(views.size());
    return kStokerOk;
  });
}

int stoker_batch_valid(const StokerBatch* batch, int32_t slot) {
  return slot >= 0 && slot < batch->batch->size() && batch->batch->valid(slot) ? 1 : 0;
}

int64_t stoker_batch_sample(const StokerBatch* batch, int32_t slot) {
  return stoker::of_slot(batch->batch->sample, slot);
}

int64_t stoker_batch_position(const StokerBatch* batch, int32_t slot) {
  return stoker::of_slot(batch->batch->position, slot);
}

const char* stoker_batch_key(const StokerBatch* batch, int32_t slot) {
  const bool is_one = slot >= 0 && slot < batch->batch->size();
  return is_one ? batch->batch->key[static_cast<std::size_t>(slot)].c_str() : nullptr;
}

int stoker_batch_wait(const StokerBatch* batch) {
  return attempt([&] {
    stoker::given(batch, "batch")->batch->wait();
    return kStokerOk;
  });
}

int stoker_batch_wait_on(const StokerBatch* batch, void* stream) {
  return attempt([&] {
    // CUDA's null stream has a number of its own here.
    const auto handle = stream ? reinterpret_cast<stoker::DeviceStream>(stream) : stoker::kDefaultStream;
    stoker::given(batch, "batch")->batch->wait_on(handle);
    batch->batch->record_stream(handle);
    return kStokerOk;
  });
}

void stoker_batch_release(StokerBatch* batch) { delete batch; }
