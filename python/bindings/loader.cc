// Loader, and the iterator over an epoch's batches.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/batch.h"
#include "python/bindings/dataset.h"
#include "python/bindings/loader_session.h"
#include "python/bindings/log.h"
#include "python/bindings/module.h"
#include "python/bindings/recipe.h"
#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

constexpr const char* kLoaderDoc =
    "Turns a data set and a recipe into batches: the same ones for every number of threads.\n\n"
    "data: a Dataset, or what stoker.open() takes\n"
    "recipe: a Recipe, or what stoker.recipe() takes\n"
    "batch: samples per batch of this rank; or global_batch: of all ranks\n"
    "seed: with the epoch's number it decides the order and every random draw\n"
    "threads: 'auto' is one per core that the process may use\n"
    "prefetch: batches made ahead of the consumer\n"
    "memory: budget for batches and read-ahead, in bytes or as '512MiB'; by default a quarter of the machine's\n"
    "order: 'global' shuffles the whole data set, 'none' leaves it as it stands\n"
    "rank, world: which of how many processes this is; by default the only one\n"
    "tail: an incomplete last batch is left out ('drop'), filled from the beginning ('wrap') or padded ('pad', see\n"
    "    Batch.valid); by default what the recipe says: 'drop', and 'pad' for imagenet-val\n"
    "audit: a file to write one line per delivered sample to\n\n"
    "Iterating yields an epoch's batches: epoch 0 first, then the one after the last. One epoch runs at a time.";

struct PyLoader {
  std::shared_ptr<LoaderSession> session;
};

struct EpochIterator {
  std::shared_ptr<LoaderSession> session;
  std::int64_t turn = 0;
};

int int_argument(std::string_view name, nb::handle value, int least) {
  return static_cast<int>(integer_argument(name, value, least, kIntMax));
}

int threads_argument(nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) return int_argument("threads", value, 1);
  const std::string text = nb::cast<std::string>(value);
  if (text != "auto") fail(ErrorKind::kUsage, "threads is '{}', but must be a whole number or 'auto'", text);
  return 0;
}

void construct(PyLoader* self, nb::handle data, nb::handle recipe, nb::handle batch, nb::handle global_batch,
               nb::handle seed, nb::handle threads, nb::handle prefetch, nb::handle memory, nb::handle order,
               nb::handle rank, nb::handle world, nb::handle tail, nb::handle audit) {
  LoaderOptions options;
  if (!batch.is_none()) options.batch = int_argument("batch", batch, 1);
  if (!global_batch.is_none()) options.global_batch = integer_argument("global_batch", global_batch, 1, kInt64Max);
  options.seed = unsigned_argument("seed", seed);
  options.threads = threads_argument(threads);
  options.prefetch = int_argument("prefetch", prefetch, 1);
  if (!memory.is_none()) options.memory = size_argument("memory", memory);
  options.order = parse_order(text_argument("order", order));
  if (!rank.is_none()) options.rank = int_argument("rank", rank, 0);
  if (!world.is_none()) options.world = int_argument("world", world, 1);
  if (!tail.is_none()) options.tail = parse_tail(text_argument("tail", tail));
  if (!audit.is_none()) options.audit = path_argument("audit", audit);
  Recipe checked = recipe_argument(recipe);
  std::shared_ptr<const Dataset> dataset = dataset_argument(data).dataset;
  new (self) PyLoader{LoaderSession::start(std::move(dataset), std::move(checked), std::move(options))};
}

EpochIterator run_epoch(const PyLoader& self, std::int64_t epoch) {
  return {self.session, self.session->start_epoch(epoch)};
}

EpochIterator named_epoch(const PyLoader& self, nb::handle epoch) {
  return run_epoch(self, integer_argument("epoch", epoch, 0, kInt64Max - 1));
}

PyBatch next_batch(const EpochIterator& self) {
  BatchPtr batch = self.session->next(self.turn);
  if (!batch) throw nb::stop_iteration();
  return {std::move(batch)};
}

void set_knobs(const PyLoader& self, const nb::kwargs& given) {
  const std::vector<std::string> known{"threads", "prefetch"};
  Knobs knobs;
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "threads") {
      knobs.threads = int_argument(name, value, 1);
    } else if (name == "prefetch") {
      knobs.prefetch = int_argument(name, value, 1);
    } else {
      fail(ErrorKind::kUsage, "there is no knob '{}'{}; there are {}", name, did_you_mean(name, known),
           fmt::join(known, ", "));
    }
  }
  self.session->set(knobs);
}

nb::dict metrics(const PyLoader& self) {
  const Metrics reading = self.session->metrics();
  nb::dict values;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    values[nb::str(metric_table()[i].name.data(), metric_table()[i].name.size())] = reading.values[i];
  }
  return values;
}

std::string repr(const PyLoader& self) {
  const Loader& loader = self.session->loader();
  return fmt::format("Loader({} batches of {} per epoch, threads={}, prefetch={})", loader.batches_per_epoch(),
                     loader.batch_size(), loader.threads(), loader.prefetch());
}

// Before the interpreter ends: no thread of ours may outlive it, and none may speak to it any more.
void end() {
  LoaderSession::close_all();
  end_log();
}

void bind_knobs(nb::class_<PyLoader>& loader) {
  const auto session = [](const PyLoader& self) -> LoaderSession& { return *self.session; };
  loader
      .def("set", &set_knobs, nb::sig("def set(self, *, threads: int = ..., prefetch: int = ...) -> None"),
           "Changes knobs while an epoch runs; the batches stay the same.")
      .def("metrics", &metrics, "What the loader has measured of itself so far, by name.")
      .def_prop_ro("threads", [session](const PyLoader& self) { return session(self).loader().threads(); })
      .def_prop_ro("prefetch", [session](const PyLoader& self) { return session(self).loader().prefetch(); })
      .def_prop_ro(
          "batch_size", [session](const PyLoader& self) { return session(self).loader().batch_size(); },
          "Samples per batch of this rank.")
      .def(
          "close", [session](const PyLoader& self) { session(self).close(); },
          "Stops and joins the loader's threads. Batches that are still held stay valid.");
}

}  // namespace

void bind_loader(nb::module_& module) {
  nb::class_<EpochIterator>(module, "EpochIterator", "The batches of an epoch that are still to come.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &next_batch);
  nb::class_<PyLoader> loader(module, "Loader", kLoaderDoc);
  loader
      .def("__init__", &construct, "data"_a.none(), "recipe"_a.none(), nb::kw_only(), "batch"_a = nb::none(),
           "global_batch"_a = nb::none(), "seed"_a.none() = 0, "threads"_a.none() = "auto", "prefetch"_a.none() = 2,
           "memory"_a = nb::none(), "order"_a.none() = "global", "rank"_a = nb::none(), "world"_a = nb::none(),
           "tail"_a = nb::none(), "audit"_a = nb::none())
      .def("__len__", [](const PyLoader& self) { return self.session->loader().batches_per_epoch(); })
      .def("__iter__", [](const PyLoader& self) { return run_epoch(self, self.session->next_epoch()); })
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](const PyLoader& self, const nb::args&) { self.session->close(); })
      .def("__repr__", &repr)
      .def("epoch", &named_epoch, "epoch"_a.none(), "An iterator over the batches of this epoch.");
  bind_knobs(loader);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end));
}

}  // namespace stoker::python
