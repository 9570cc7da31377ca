// Loader, and the iterator over an epoch's batches.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "python/bindings/arguments.h"
#include "python/bindings/batch.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/dataset.h"
#include "python/bindings/loader_session.h"
#include "python/bindings/log.h"
#include "python/bindings/module.h"
#include "python/bindings/recipe.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/runtime/report/metrics_server.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/tuner/report/tune_report.h"

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
    "threads: workers; 'auto': as tuned, or one per core that the process may use where nothing is tuned\n"
    "prefetch: batches made ahead of the consumer; 'auto': as tuned, 2 to begin with\n"
    "io_depth: reads under way at once, at most; None: as tuned, 1024 to begin with; reads by pread use the first 32\n"
    "tune: threads, prefetch, io_depth and transfer_index that are left open are turned while the loader runs, until\n"
    "    nothing makes training faster or cheaper: always again when something changes ('on'), 'once', or 'off'; why "
    "is\n"
    "    logged at level INFO; tuning() and tune_report() have all of it\n"
    "memory: budget for all that the loader holds, in bytes or as '512MiB'; by default a quarter of the machine's\n"
    "order: 'global' shuffles the whole data set, 'windowed' its shards and near samples, 'none' leaves it as it "
    "stands\n"
    "window, lanes: of order 'windowed': it reads at so many places (lanes, of all ranks; by default 8) and shuffles "
    "so\n"
    "    many samples at a time at each (window; by default 1024)\n"
    "repeats: how often each sample comes in an epoch, augmented anew each time\n"
    "rank, world: which of how many processes this is; by default what torchrun, MPI or Slurm say\n"
    "tail: an incomplete last batch is left out ('drop'), filled from the beginning ('wrap'), padded with images of\n"
    "    zeros and labels of -100 ('pad', see Batch.valid) or shorter ('keep': some ranks may have one batch less); "
    "by\n"
    "    default what the recipe says: 'drop', and 'pad' for imagenet-val\n"
    "audit: a file to write one line per delivered sample to\n"
    "bad_sample: where a sample's bytes are bad another one stands in for it ('substitute'), nothing does ('skip', "
    "see\n"
    "    Batch.valid), or the epoch ends ('fail')\n"
    "pixels_max: images of more pixels are bad samples; by default 89,000,000\n"
    "quarantine: a file: the samples that it lists are taken for bad, others that are bad are added to it\n"
    "cache: 'ram' keeps encoded samples in memory, shared by the ranks of a host; cache_memory: how much of the "
    "budget,\n"
    "    by default what all samples need and at most half\n"
    "device: does the stages behind the transfer index: 'cpu' (there is none), 'emulated:execute', or "
    "'emulated:NAME',\n"
    "    which computes nothing, or a GPU as 'cuda:0' or a torch.device; 'cuda' is the one that PyTorch works with,\n"
    "    if it was imported, else the first; transfer_index: how many stages the CPU does before the data\n"
    "    cross, 0 to 3, 'auto': as tuned, 0 to begin with; device_memory: budget for what the loader holds there, by "
    "default a quarter of it\n"
    "nvjpeg: at transfer index 0, JPEGs that an index has no entry points for are decoded by nvJPEG, to other pixels, "
    "so\n"
    "    that states with and without it are not the same\n"
    "pin_memory: batches on the CPU are in pinned memory, from which copies to a GPU go beside all else; tell the\n"
    "    batch which streams copy it, see Batch.record_stream()\n"
    "pin_threads: with a GPU, threads keep to the cores near it\n"
    "metrics_address: serves metrics() to Prometheus at http://ADDRESS/metrics: a port, which is 127.0.0.1's, or "
    "'IP:PORT';\n"
    "    port 0 is one that is free; name: what this loader is called there, by default a number\n\n"
    "Iterating yields an epoch's batches: epoch 0 first, then the one after the last. One epoch runs at a time.\n"
    "Pickled into another process, a loader is made anew there and goes on where this one stands; it serves no "
    "metrics.";

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

int int_argument(std::string_view name, nb::handle value, int least) {
  return static_cast<int>(integer_argument(name, value, least, kIntMax));
}

/// Unset for 'auto'.
std::optional<int> int_or_auto(std::string_view name, nb::handle value, int least) {
  if (!nb::isinstance<nb::str>(value)) return int_argument(name, value, least);
  const std::string text = nb::cast<std::string>(value);
  if (text != "auto") fail(ErrorKind::kUsage, "{} is '{}', but must be a whole number or 'auto'", name, text);
  return std::nullopt;
}

std::string metrics_address_argument(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return parse_metrics_address(nb::cast<std::string>(value)).text();
  return std::to_string(integer_argument("metrics_address", value, 0, 65'535));
}

// As the stub file has it.
constexpr const char* kConstructor =
    "def __init__(self, data: Dataset | _Path | Sequence[_Path], recipe: Recipe | _Path, *, batch: int | None = None, "
    "global_batch: int | None = None, seed: int = 0, threads: int | str = 'auto', prefetch: int | str = 'auto', "
    "memory: int | str | None = None, order: str = 'global', window: int | None = None, lanes: int | None = None, "
    "rank: int | None = None, world: int | None = None, "
    "tail: str | None = None, audit: _Path | None = None, bad_sample: str = 'substitute', "
    "quarantine: _Path | None = None, cache: str = 'none', cache_memory: int | str | None = None, "
    "repeats: int = 1, device: str | _Device = 'cpu', transfer_index: int | str = 'auto', "
    "device_memory: int | str | None = None, nvjpeg: bool = False, pin_memory: bool = False, "
    "pin_threads: bool = True, io_depth: int | None = None, metrics_address: int | str | None = None, "
    "name: str | None = None, tune: str = 'on', pixels_max: int | None = None) -> None";

// `device`: its name, for another process is to open the same.
nb::dict kept_options(const CallSignature& signature, const CallArguments& given, const std::string& device) {
  nb::dict options;
  for (std::size_t i = signature.positional; i < signature.names.size(); ++i) {
    if (const nb::handle value = given[signature.names[i]]) options[signature.names[i].c_str()] = value;
  }
  if (given["device"]) options["device"] = device;
  return options;
}

LoaderOptions loader_options(const CallArguments& given) {
  LoaderOptions options;
  if (const nb::handle value = given.unless_none("batch")) options.batch = int_argument("batch", value, 1);
  if (const nb::handle value = given.unless_none("global_batch")) {
    options.global_batch = integer_argument("global_batch", value, 1, kInt64Max);
  }
  if (const nb::handle value = given["seed"]) options.seed = unsigned_argument("seed", value);
  if (const nb::handle value = given["threads"]) options.threads = int_or_auto("threads", value, 1).value_or(0);
  if (const nb::handle value = given["prefetch"]) options.prefetch = int_or_auto("prefetch", value, 1);
  if (const nb::handle value = given.unless_none("memory")) options.memory = size_argument("memory", value);
  if (const nb::handle value = given["order"]) options.order = parse_order(text_argument("order", value));
  if (const nb::handle value = given.unless_none("window")) {
    options.window = integer_argument("window", value, 1, kInt64Max);
  }
  if (const nb::handle value = given.unless_none("lanes")) options.lanes = int_argument("lanes", value, 1);
  if (const nb::handle value = given.unless_none("rank")) options.rank = int_argument("rank", value, 0);
  if (const nb::handle value = given.unless_none("world")) options.world = int_argument("world", value, 1);
  if (const nb::handle value = given.unless_none("tail")) options.tail = parse_tail(text_argument("tail", value));
  if (const nb::handle value = given.unless_none("audit")) options.audit = path_argument("audit", value);
  if (const nb::handle value = given["bad_sample"]) {
    options.bad_sample = parse_bad_slot_policy(text_argument("bad_sample", value));
  }
  if (const nb::handle value = given.unless_none("quarantine")) options.quarantine = path_argument("quarantine", value);
  if (const nb::handle value = given["cache"]) options.cache = parse_cache(text_argument("cache", value));
  if (const nb::handle value = given.unless_none("cache_memory")) {
    options.cache_memory = size_argument("cache_memory", value);
  }
  if (const nb::handle value = given["repeats"]) options.repeats = integer_argument("repeats", value, 1, kInt64Max);
  if (const nb::handle value = given["device"]) options.device = open_device(device_argument("device", value));
  if (const nb::handle value = given["transfer_index"]) {
    options.transfer_index = int_or_auto("transfer_index", value, 0);
  }
  if (const nb::handle value = given["tune"]) options.tune = parse_tune_mode(text_argument("tune", value));
  if (const nb::handle value = given.unless_none("device_memory")) {
    options.device_memory = size_argument("device_memory", value);
  }
  if (const nb::handle value = given["nvjpeg"]) options.nvjpeg = flag_argument("nvjpeg", value);
  if (const nb::handle value = given["pin_memory"]) options.pin_memory = flag_argument("pin_memory", value);
  if (const nb::handle value = given.unless_none("io_depth")) options.io_depth = int_argument("io_depth", value, 1);
  if (const nb::handle value = given.unless_none("metrics_address")) {
    options.metrics_address = metrics_address_argument(value);
  }
  if (const nb::handle value = given.unless_none("name")) options.name = text_argument("name", value);
  if (const nb::handle value = given.unless_none("pixels_max")) {
    options.limits = DecodeLimits::up_to(integer_argument("pixels_max", value, 1, kInt64Max));
  }
  if (const nb::handle value = given["pin_threads"]) options.pin_threads = flag_argument("pin_threads", value);
  return options;
}

void construct(PyLoader* self, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{
      "Loader",
      {"data",           "recipe",        "batch",      "global_batch", "seed",         "threads",  "prefetch",
       "memory",         "order",         "window",     "lanes",        "rank",         "world",    "tail",
       "audit",          "bad_sample",    "quarantine", "cache",        "cache_memory", "repeats",  "device",
       "transfer_index", "device_memory", "nvjpeg",     "pin_memory",   "pin_threads",  "io_depth", "metrics_address",
       "name",           "tune",          "pixels_max"},
      2,
      {"channels_last"}};
  const CallArguments given(signature, positional, named);
  LoaderOptions options = loader_options(given);
  const std::string device = options.device ? options.device->name() : "cpu";
  Recipe recipe = recipe_argument(given["recipe"]);
  PyDataset data = dataset_argument(given["data"]);
  if (data.dataset->size() == 0)
    fail(ErrorKind::kData, "there are no samples in {}: Stoker looks for images and tars", fmt::join(data.paths, ", "));
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
  BatchPtr batch = self.session->next(self.turn);
  if (!batch) throw nb::stop_iteration();
  --self.batches_left;
  return {std::move(batch)};
}

void set_knobs(PyLoader& self, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{"Loader.set", {"threads", "prefetch", "transfer_index", "io_depth"}};
  const CallArguments given(signature, positional, named);
  Knobs knobs;
  if (const nb::handle value = given["threads"]) knobs.threads = int_argument("threads", value, 1);
  if (const nb::handle value = given["prefetch"]) knobs.prefetch = int_argument("prefetch", value, 1);
  if (const nb::handle value = given["transfer_index"]) {
    knobs.transfer_index = int_argument("transfer_index", value, 0);
  }
  if (const nb::handle value = given["io_depth"]) knobs.io_depth = int_argument("io_depth", value, 1);
  self.session->set(knobs);
  self.options.update(nb::borrow<nb::dict>(named));
}

nb::object state_dict(const PyLoader& self) {
  return nb::module_::import_("json").attr("loads")(self.session->state());
}

nb::list quarantine(const PyLoader& self) {
  nb::list list;
  for (const BadSample& bad : self.session->bad_samples()) {
    nb::dict entry;
    entry["shard"] = to_python_text(bad.shard);
    entry["key"] = to_python_text(bad.key);
    entry["offset"] = bad.offset;
    entry["reason"] = to_python_text(bad.reason);
    list.append(std::move(entry));
  }
  return list;
}

void load_state_dict(const PyLoader& self, nb::handle state) {
  if (!nb::isinstance<nb::dict>(state)) fail(ErrorKind::kUsage, "a state is the dict that state_dict() returned");
  self.session->load_state(nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(state)));
}

/// Another process gets a loader of its own, which goes on where this one stands.
nb::tuple reduce(const PyLoader& self) {
  const nb::object audit = self.options.attr("get")("audit");
  if (!audit.is_none()) {
    fail(ErrorKind::kUsage, "a loader with an audit cannot be pickled or copied: both would write to the same file");
  }
  nb::dict options;
  options.update(self.options);
  for (const char* const ours : {"metrics_address", "name"}) options.attr("pop")(ours, nb::none());
  return nb::make_tuple(maker("loader"), nb::make_tuple(self.data, self.recipe, options, state_dict(self)));
}

nb::dict metrics(const PyLoader& self) {
  const Metrics reading = self.session->metrics();
  nb::dict values;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    values[nb::str(metric_table()[i].name.data(), metric_table()[i].name.size())] = reading.values[i];
  }
  return values;
}

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
    entry["settled"] = move.settled;
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
  return text;
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

// Before the interpreter ends: no thread of ours may outlive it, and none may speak to it any more.
void end() {
  LoaderSession::close_all();
  end_log();
}

void bind_knobs(nb::class_<PyLoader>& loader) {
  const auto session = [](const PyLoader& self) -> LoaderSession& { return *self.session; };
  loader
      .def("set", &set_knobs,
           nb::sig("def set(self, *, threads: int = ..., prefetch: int = ..., transfer_index: int = ..., "
                   "io_depth: int = ...) -> None"),
           "Changes knobs while an epoch runs; the batches stay the same.")
      .def("metrics", &metrics, metrics_documentation().c_str())
      .def("worker_times", &worker_times, nb::sig("def worker_times(self) -> list[dict[str, int]]"),
           "For each worker, the time that it was busy and the time that it was idle so far, in nanoseconds.")
      .def("tuning", &tuning, nb::sig("def tuning(self) -> list[dict[str, Any]]"),
           "The windows of tuning so far: the knobs that each ran with, its rate and wait, the next knobs, and the\n"
           "reason. Of a long run only some of the windows without a change are kept.")
      .def("tune_report", &write_tune_report, "path"_a, nb::sig("def tune_report(self, path: _Path) -> None"),
           "Draws what tuning() returns, as an HTML page.")
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
          [session](const PyLoader& self) -> nb::object {
            const std::string address = session(self).loader().metrics_address();
            return address.empty() ? nb::none() : nb::object(nb::str(address.c_str()));
          },
          "The address at which metrics are served, with the actual port.")
      .def_prop_ro(
          "dataset", [](const PyLoader& self) { return self.data; }, "The data set, with the samples of all ranks.")
      .def_prop_ro(
          "batch_size", [session](const PyLoader& self) { return session(self).loader().batch_size(); },
          "Samples in a batch of this rank.")
      .def(
          "close", [session](const PyLoader& self) { session(self).close(); },
          "Stops and joins the loader's threads. Batches that are still held stay valid.");
}

}  // namespace

void bind_loader(nb::module_& module) {
  nb::class_<EpochIterator>(module, "EpochIterator", "The remaining batches of an epoch; its length is their number.")
      .def("__len__", [](const EpochIterator& self) { return self.batches_left; })
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &next_batch)
      .def("__repr__", &repr_epoch);
  nb::class_<PyLoader> loader(module, "Loader", kLoaderDoc);
  loader.def("__init__", &construct, nb::sig(kConstructor))
      .def("__len__", [](const PyLoader& self) { return self.session->loader().batches_per_epoch(); })
      .def("__iter__", [](const PyLoader& self) { return run_epoch(self, self.session->next_epoch()); })
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](const PyLoader& self, const nb::args&) { self.session->close(); })
      .def("__repr__", &repr)
      .def("__reduce__", &reduce)
      .def("state_dict", &state_dict,
           "The position of training, as a small dict: it is after the batches that iteration has yielded, and before\n"
           "those that are prefetched. The same on every rank.")
      .def(
          "load_state_dict", &load_state_dict, "state_dict"_a,
          "Moves the loader to a state's position: the state's epoch begins there, and so does plain iteration; after\n"
          "an epoch's last batch that is the next epoch. The state may come from another number of ranks, threads or\n"
          "prefetched batches, but not from other data, recipe, seed, order or global batch.")
      .def_prop_ro(
          "quarantine", &quarantine,
          "The bad samples found so far, as in the list of quarantine=FILE: dicts of shard, key, offset and reason.")
      .def("epoch", &named_epoch, "epoch"_a.none(), "An iterator over the batches of this epoch.");
  bind_knobs(loader);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end));
}

}  // namespace stoker::python
