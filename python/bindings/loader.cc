// Loader, and the iterator over an epoch's batches.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "python/bindings/arguments.h"
#include "python/bindings/batch.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/dataset.h"
#include "python/bindings/function.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/loader_options.h"
#include "python/bindings/loader_session.h"
#include "python/bindings/log.h"
#include "python/bindings/metrics_dict.h"
#include "python/bindings/module.h"
#include "python/bindings/recipe.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/device/device.h"
#include "stoker/runtime/report/audit.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/tuner/report/tune_report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

std::string loader_documentation() {
  return "Turns a data set and a recipe into batches: the same ones for every number of threads.\n\n" + options_help() +
         "\ndevice may be a torch.device; 'cuda' is the GPU that PyTorch works with if it was imported, else the "
         "first.\n"
         "Why a knob is turned is logged at level INFO; tuning() and tune_report() have all of it.\n\n"
         "Iterating yields an epoch's batches: epoch 0 first, then the one after the last. One epoch runs at a time.\n"
         "Pickled into another process, a loader is made anew there and goes on where this one stands; it serves no "
         "metrics\nand writes no trace."
         "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
         "...     for epoch in range(2):\n"
         "...         for batch in loader.epoch(epoch):\n"
         "...             pass  # train(torch.from_dlpack(batch.image), torch.from_dlpack(batch.label))\n"
         "...     state = loader.state_dict()\n"
         ">>> state[\"epoch\"]\n"
         "1";
}

struct PyLoader {
  std::shared_ptr<LoaderSession> session;
  PyDataset data;
  Recipe recipe;
  nb::dict options;  // as they were given, with the knobs as they were set
};

struct EpochIterator {
  std::shared_ptr<LoaderSession> session;
  std::int64_t turn = 0;
  std::int64_t epoch = 0;
  std::int64_t batches_left = 0;
};

// `device`: its name, for another process is to open the same.
nb::dict kept_options(const CallSignature& signature, const CallArguments& given, const std::string& device) {
  nb::dict options;
  for (std::size_t i = signature.positional; i < signature.names.size(); ++i) {
    if (const nb::handle value = given[signature.names[i]]) options[signature.names[i].c_str()] = value;
  }
  if (given["device"]) options["device"] = device;
  return options;
}

void check_has_samples(const PyDataset& data) {
  if (data.dataset->size() > 0) return;
  const std::string paths = fmt::format("{}", fmt::join(data.paths, ", "));
  if (data.is_subset) fail(ErrorKind::kData, "the subset of {} is empty: none of the samples was chosen", paths);
  fail(ErrorKind::kData, "there are no samples in {}: Stoker looks for images and shards", paths);
}

void construct(PyLoader* self, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature = loader_signature();
  const CallArguments given(signature, positional, named);
  LoaderOptions options = loader_options(given);
  const std::string device = options.device ? options.device->name() : "cpu";
  Recipe recipe = recipe_argument(given["recipe"]);
  PyDataset data = dataset_argument(given["data"]);
  check_has_samples(data);
  if (!recipe.functions().empty()) be_home_of_functions();
  std::shared_ptr<LoaderSession> session = LoaderSession::start(data.dataset, recipe, std::move(options));
  new (self) PyLoader{std::move(session), std::move(data), std::move(recipe), kept_options(signature, given, device)};
}

EpochIterator run_epoch(const PyLoader& self, std::int64_t epoch) {
  const std::int64_t turn = self.session->start_epoch(epoch);
  const std::int64_t left = self.session->loader().batches_per_epoch() - self.session->position().batch;
  return {self.session, turn, epoch, std::max<std::int64_t>(left, 0)};  // other ranks may have had one more
}

EpochIterator named_epoch(const PyLoader& self, nb::handle epoch) {
  return run_epoch(self, integer_argument("epoch", epoch, 0, kInt64Max - 1));
}

PyBatch next_batch(EpochIterator& self) {
  LoaderSession::Taken taken = self.session->next(self.turn);
  if (!taken.batch) throw nb::stop_iteration();
  if (!taken.again) --self.batches_left;
  return {std::move(taken.batch)};
}

void request(const PyLoader& self, nb::handle epoch, nb::handle index) {
  self.session->request(
      {integer_argument("epoch", epoch, 0, kInt64Max - 1), integer_argument("index", index, 0, kInt64Max - 1)});
}

nb::object take(const PyLoader& self, nb::handle timeout) {
  std::optional<std::chrono::milliseconds> patience;
  if (!timeout.is_none()) {
    constexpr double kSecondsMax = 1e9;
    const double seconds = number_argument("timeout", timeout, "a number of seconds, or None");
    patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * std::clamp(seconds, 0.0, kSecondsMax)));
  }
  BatchPtr batch = self.session->take(patience);
  return batch ? nb::cast(PyBatch{std::move(batch)}) : nb::none();
}

void set_knobs(PyLoader& self, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{"Loader.set", {"threads", "prefetch", "transfer_index", "io_depth"}};
  const CallArguments given(signature, positional, named);
  const auto knob = [&](std::string_view name) -> std::optional<int> {
    if (const nb::handle value = given[name]) return static_cast<int>(integer_of(loader_option(name), value));
    return std::nullopt;
  };
  self.session->set({.threads = knob("threads"),
                     .prefetch = knob("prefetch"),
                     .transfer_index = knob("transfer_index"),
                     .io_depth = knob("io_depth")});
  self.options.update(nb::borrow<nb::dict>(named));
}

nb::object state_dict(const PyLoader& self) {
  return nb::module_::import_("json").attr("loads")(self.session->state());
}

nb::dict bad_entry(const BadSample& bad) {
  nb::dict entry;
  entry["shard"] = to_python_text(bad.shard);
  entry["key"] = to_python_text(bad.key);
  entry["offset"] = bad.offset;
  entry["reason"] = to_python_text(bad.reason);
  return entry;
}

nb::list quarantine(const PyLoader& self) {
  nb::list list;
  for (const BadSample& bad : self.session->bad_samples()) list.append(bad_entry(bad));
  return list;
}

nb::list bad_in_batch(const PyLoader& self) {
  nb::list list;
  for (const MetBadSample& met : self.session->bad_in_batch()) {
    list.append(nb::make_tuple(bad_entry(met.sample), met.known));
  }
  return list;
}

void load_state_dict(const PyLoader& self, nb::handle state) {
  const auto refuse = [&](std::string_view why) {
    fail(ErrorKind::kUsage, "state_dict is {}{}, but must be the dict that state_dict() returned", describe(state),
         why);
  };
  if (!nb::isinstance<nb::dict>(state)) refuse("");
  std::string json;
  try {
    json = nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(state));
  } catch (nb::python_error& error) {  // a circle, or a value that JSON does not have
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    refuse(fmt::format(" ({})", describe(error.value())));
  }
  self.session->load_state(json);
}

/// Another process gets a loader of its own, which goes on where this one stands. One of a class made from this one has
/// its attributes there, too.
nb::tuple reduce(nb::handle object) {
  const auto& self = nb::cast<const PyLoader&>(object);
  const nb::object audit = self.options.attr("get")("audit");
  if (!audit.is_none()) {
    fail(ErrorKind::kUsage, "a loader with an audit cannot be pickled or copied: both would write to the same file");
  }
  nb::dict options;
  options.update(self.options);
  for (const char* const ours : {"metrics_address", "dashboard_address", "name", "trace"}) {
    options.attr("pop")(ours, nb::none());
  }
  const nb::object make = nb::module_::import_("functools").attr("partial")(maker("loader"), object.type());
  const nb::tuple arguments = nb::make_tuple(self.data, self.recipe, options, state_dict(self));
  const nb::object attributes = nb::getattr(object, "__dict__", nb::none());
  if (attributes.is_none()) return nb::make_tuple(make, arguments);
  return nb::make_tuple(make, arguments, attributes);
}

nb::dict metrics(const PyLoader& self) { return metrics_dict(self.session->metrics()); }

nb::list worker_times(const PyLoader& self) {
  nb::list workers;
  for (const WorkerTimes& times : self.session->metrics().workers) {
    nb::dict entry;
    entry["busy_ns"] = times.busy_ns;
    entry["idle_ns"] = times.idle_ns;
    workers.append(std::move(entry));
  }
  return workers;
}

nb::dict knobs_dict(const KnobSetting& knobs) {
  nb::dict entry;
  entry["threads"] = knobs.threads;
  entry["transfer_index"] = knobs.transfer_index;
  entry["prefetch"] = knobs.prefetch;
  entry["io_depth"] = knobs.io_depth;
  return entry;
}

nb::list tuning(const PyLoader& self) {
  const TuningLog log = self.session->loader().tuning();
  nb::list windows;
  for (const TuningMove& move : log.moves) {
    nb::dict entry;
    entry["at_s"] = move.at_s;
    entry["knobs"] = knobs_dict(move.knobs);
    entry["samples_per_s"] = static_cast<double>(move.window.samples) / move.window.seconds;
    entry["wait_share"] = move.window.wait_s / move.window.seconds;
    entry["next"] = knobs_dict(move.next);
    entry["why"] = move.why;
    entry["settled"] = move.settled_on.has_value();
    windows.append(std::move(entry));
  }
  return windows;
}

void write_tune_report(const PyLoader& self, nb::handle path) {
  write_whole_file(path_argument("path", path), as_bytes(tune_report_html(self.session->loader().tuning())));
}

std::string metrics_documentation() {
  std::string text = "What the loader has measured so far, by name; times in nanoseconds.\n\n";
  for (const MetricSpec& metric : metric_table()) {
    const bool counts = metric.kind == MetricKind::kCounter;
    text += fmt::format("{}: {}{}\n", metric.name, metric.doc, counts ? "" : " (a gauge, which may decrease)");
  }
  return text +
         "\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
         "...     keys = [batch.key for batch in loader]\n"
         "...     loader.metrics()[\"batches\"]\n"
         "3";
}

std::string repr(const PyLoader& self) {
  const Loader& loader = self.session->loader();
  return fmt::format("Loader({} of {} per epoch, threads={}, prefetch={})",
                     counted(loader.batches_per_epoch(), "batch"), loader.batch_size(), loader.threads(),
                     loader.prefetch());
}

std::string repr_epoch(const EpochIterator& self) {
  return fmt::format("EpochIterator(epoch={}, batches_left={})", self.epoch, self.batches_left);
}

// Before the interpreter ends: no thread of a loader may outlive it, and none at all may speak to it any more.
void end() {
  LoaderSession::close_all();
  keep_threads_out();
  end_log();
}

nb::object address_or_none(const std::string& address) {
  return address.empty() ? nb::none() : nb::object(nb::str(address.c_str()));
}

LoaderReport report(const PyLoader& self, nb::handle epoch) {
  if (epoch.is_none()) return self.session->report(std::nullopt);
  return self.session->report(integer_argument("epoch", epoch, 0, kInt64Max));
}

void headspace(const PyLoader& self, nb::handle steps) {
  constexpr std::int64_t kStepsMax = 1'000'000;
  self.session->headspace(static_cast<int>(integer_argument("steps", steps, 0, kStepsMax)));
}

void bind_reports(nb::class_<PyLoader>& loader) {
  loader
      .def(
          "report", &report, "epoch"_a.none() = nb::none(),
          nb::sig("def report(self, epoch: int | None = None) -> Report"),
          "What limits this training, since its first batch or in one epoch: the one that runs, so far, or one of the\n"
          "last 128."
          "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
          "...     for batch in loader.epoch(0):\n"
          "...         pass  # train(batch)\n"
          "...     report = loader.report(epoch=0)\n"
          ">>> report.steps, 0 <= report.gpu_idle <= 1\n"
          "(3, True)")
      .def("headspace", &headspace, "steps"_a.none(),
           "Measures what a step takes without loading, in the training itself: the batch that iteration yields next "
           "is\n"
           "yielded so many times more (4 or more) before the others go on. The order, the state, the audit and len()\n"
           "do not count these. The result is in report(), and in the log at level INFO."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     loader.headspace(steps=4)\n"
           "...     len([batch for batch in loader])\n"
           "7")
      .def_prop_ro(
          "replays", [](const PyLoader& self) { return self.session->loader().replays(); },
          "Whether the batch that was yielded last was one that had been yielded before, for headspace().");
}

void bind_knobs(nb::class_<PyLoader>& loader) {
  const auto session = [](const PyLoader& self) -> LoaderSession& { return *self.session; };
  loader
      .def("set", &set_knobs,
           nb::sig("def set(self, *, threads: int = ..., prefetch: int = ..., transfer_index: int = ..., "
                   "io_depth: int = ...) -> None"),
           "Changes knobs while an epoch runs; the batches stay the same."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     batches = iter(loader)\n"
           "...     first = next(batches)\n"
           "...     loader.set(threads=1)\n"
           "...     loader.threads\n"
           "1")
      .def("metrics", &metrics, metrics_documentation().c_str())
      .def("worker_times", &worker_times, nb::sig("def worker_times(self) -> list[dict[str, int]]"),
           "For each worker, the time that it was busy and the time that it was idle so far, in nanoseconds."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, threads=2, tune=\"off\") as loader:\n"
           "...     keys = [batch.key for batch in loader]\n"
           "...     [sorted(times) for times in loader.worker_times()]\n"
           "[['busy_ns', 'idle_ns'], ['busy_ns', 'idle_ns']]")
      .def("tuning", &tuning, nb::sig("def tuning(self) -> list[dict[str, Any]]"),
           "The windows of tuning so far: the knobs that each ran with, its rate and wait, the next knobs, and the\n"
           "reason. Of a long run only some of the windows without a change are kept."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     keys = [batch.key for batch in loader]\n"
           "...     whys = [window[\"why\"] for window in loader.tuning()]")
      .def("tune_report", &write_tune_report, "path"_a.none(), nb::sig("def tune_report(self, path: _Path) -> None"),
           "Draws what tuning() returns, as an HTML page."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     keys = [batch.key for batch in loader]\n"
           "...     loader.tune_report(\"tuning.html\")")
      .def_prop_ro(
          "threads", [session](const PyLoader& self) { return session(self).loader().threads(); },
          "The number of workers now.")
      .def_prop_ro(
          "prefetch", [session](const PyLoader& self) { return session(self).loader().prefetch(); },
          "The number of batches made ahead now.")
      .def_prop_ro(
          "io_depth", [session](const PyLoader& self) { return session(self).loader().io_depth(); },
          "The most reads that are under way at once now.")
      .def_prop_ro(
          "transfer_index", [session](const PyLoader& self) { return session(self).loader().transfer_index(); },
          "The number of stages that the CPU runs now.")
      .def_prop_ro(
          "metrics_address",
          [session](const PyLoader& self) { return address_or_none(session(self).loader().metrics_address()); },
          "The address at which metrics are served, with the actual port.")
      .def_prop_ro(
          "dashboard_address",
          [session](const PyLoader& self) { return address_or_none(session(self).loader().dashboard_address()); },
          "The address at which the page about the loader is served, with the actual port.")
      .def_prop_ro(
          "dataset", [](const PyLoader& self) { return self.data; }, "The data set, with the samples of all ranks.")
      .def_prop_ro(
          "batch_size", [session](const PyLoader& self) { return session(self).loader().batch_size(); },
          "Samples in a batch of this rank.")
      .def(
          "close", [session](const PyLoader& self) { session(self).close(); },
          "Stops and joins the loader's threads. Batches that are still held stay valid."
          "\n\n>>> loader = stoker.Loader(\"photos\", \"imagenet-train\", batch=8)\n"
          ">>> batch = next(iter(loader))\n"
          ">>> loader.close()\n"
          ">>> batch.image\n"
          "Tensor(shape=(8, 3, 224, 224), dtype='float32')");
}

}  // namespace

void bind_loader(nb::module_& module) {
  nb::class_<EpochIterator>(module, "EpochIterator",
                            "The remaining batches of an epoch; its length is their number."
                            "\n\n>>> stoker.Loader(\"photos\", \"imagenet-train\", batch=8).epoch(3)\n"
                            "EpochIterator(epoch=3, batches_left=3)")
      .def(
          "__len__", [](const EpochIterator& self) { return self.batches_left; }, nb::lock_self())
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &next_batch, nb::lock_self())
      .def("__repr__", &repr_epoch);
  nb::class_<PyLoader> loader(module, "Loader", loader_documentation().c_str());
  loader.def("__init__", &construct, nb::sig(constructor_text().c_str()))
      .def("__len__", [](const PyLoader& self) { return self.session->loader().batches_per_epoch(); })
      .def("__iter__", [](const PyLoader& self) { return run_epoch(self, self.session->next_epoch()); })
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](const PyLoader& self, const nb::args&) { self.session->close(); })
      .def("__repr__", &repr)
      .def("__reduce__", &reduce)
      .def("state_dict", &state_dict,
           "The position of training, as a small dict: it is after the batches that iteration has yielded, and before\n"
           "those that are prefetched. The same on every rank."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     batch = next(iter(loader))\n"
           "...     state = loader.state_dict()\n"
           ">>> state[\"epoch\"], state[\"batch\"]\n"
           "(0, 1)")
      .def(
          "load_state_dict", &load_state_dict, "state_dict"_a.none(),
          "Moves the loader to a state's position: the state's epoch begins there, and so does plain iteration; after\n"
          "an epoch's last batch that is the next epoch. The state may come from another number of ranks, threads or\n"
          "prefetched batches, but not from other data, recipe, seed, order or global batch."
          "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
          "...     batch = next(iter(loader))\n"
          "...     state = loader.state_dict()\n"
          ">>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
          "...     loader.load_state_dict(state)\n"
          "...     [batch.index for batch in loader]\n"
          "[1, 2]")
      .def_prop_ro(
          "quarantine", &quarantine,
          "The bad samples found so far, as in the list of quarantine=FILE: dicts of shard, key, offset and reason.")
      .def(
          "request", &request, "epoch"_a.none(), "index"_a.none(),
          "Asks for one batch of an epoch, the same as in a run, whatever came before it; take() gives those that were "
          "asked\nfor, in that order. Ends the epoch that runs; the state of the loader stays where that was."
          "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
          "...     loader.request(5, 2)\n"
          "...     batch = loader.take()\n"
          ">>> batch.epoch, batch.index\n"
          "(5, 2)")
      .def("take", &take, "timeout"_a.none() = nb::none(),
           nb::sig("def take(self, timeout: float | None = None) -> Batch | None"),
           "The first batch that request() asked for and that was not taken yet; None after the timeout, in seconds. "
           "Another\nthread may ask for more meanwhile."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     loader.request(5, 0)\n"
           "...     loader.take().key == next(loader.epoch(5)).key\n"
           "True")
      .def_prop_ro("_bad_in_batch", &bad_in_batch)
      .def_prop_ro("_global_batches", [](const PyLoader& self) { return self.session->loader().global_batches(); })
      .def_prop_ro("_rank",
                   [](const PyLoader& self) {
                     const RankSlice slice = self.session->loader().slice();
                     return nb::make_tuple(slice.rank, slice.world);
                   })
      .def("epoch", &named_epoch, "epoch"_a.none(),
           "An iterator over the batches of this epoch."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     [batch.epoch for batch in loader.epoch(3)]\n"
           "[3, 3, 3]");
  bind_knobs(loader);
  bind_reports(loader);
  nb::class_<AuditWriter>(module, "_Audit")
      .def("__init__", [](AuditWriter* self, nb::handle path) { new (self) AuditWriter(path_argument("audit", path)); })
      .def("begin", &AuditWriter::begin)
      .def("write", [](AuditWriter& self, const PyBatch& batch) { self.write(*batch.batch); });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end));
}

}  // namespace stoker::python
