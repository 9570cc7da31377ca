// Preprocessor: a recipe for requests, as inference needs it.
#include "stoker/runtime/preprocessor.h"

#include <fmt/format.h>

#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/batch.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/function.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/interruptible.h"
#include "python/bindings/module.h"
#include "python/bindings/recipe.h"
#include "python/bindings/sample_argument.h"
#include "stoker/base/error.h"
#include "stoker/base/home_process.h"
#include "stoker/base/threads.h"
#include "stoker/runtime/bad_slot_policy.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr std::int64_t kIntegerMax = std::numeric_limits<std::int64_t>::max();

// The items of a call, and all that they refer to, which stays where it is.
class HeldItems {
 public:
  HeldItems(const Preprocessor& made, nb::handle given) : made_(made) {
    if (is_item(given)) {
      add(given);
      return;
    }
    if (nb::hasattr(given, "read")) {
      fail(ErrorKind::kUsage, "items is {}, an open file: give its bytes, as by .read()", describe(given));
    }
    if (!nb::isinstance<nb::iterable>(given)) {
      fail(ErrorKind::kUsage, "items is {}, but must be a list of images: their bytes, paths, URLs or dicts of bytes",
           describe(given));
    }
    for (const nb::handle item : nb::iter(given)) add(item);
  }

  std::span<const RequestItem> items() const { return items_; }
  /// A file or a URL is read, which may take long.
  bool has_places() const { return !places_.empty(); }

 private:
  static bool is_item(nb::handle given) {
    return is_path(given) || nb::isinstance<nb::dict>(given) || has_bytes(given);
  }

  void add(nb::handle item) {
    if (is_path(item)) {
      items_.push_back({.place = &places_.emplace_back(path_argument("items", item))});
      return;
    }
    held_.push_back(sample_fields(made_.fields(), made_.optional_fields(), item));
    std::vector<Bytes>& fields = fields_.emplace_back();
    for (const HeldBytes& field : held_.back()) fields.push_back(field.bytes());
    items_.push_back({.fields = fields, .label = sample_label({}, item)});
  }

  const Preprocessor& made_;
  std::deque<Location> places_;
  std::deque<std::vector<HeldBytes>> held_;
  std::deque<std::vector<Bytes>> fields_;
  std::vector<RequestItem> items_;
};

std::uint64_t number_of(const CallArguments& given, const char* name) {
  return given[name] ? static_cast<std::uint64_t>(integer_argument(name, given[name], 0, kIntegerMax)) : 0;
}

bool keeps_bad(nb::handle policy) {
  if (!policy) return false;
  switch (parse_bad_slot_policy(text_argument("bad_sample", policy))) {
    case BadSlotPolicy::kFail: return false;
    case BadSlotPolicy::kSkip: return true;
    case BadSlotPolicy::kSubstitute: break;
  }
  fail(ErrorKind::kUsage, "a request has no other samples to substitute: bad_sample must be 'fail' or 'skip'");
}

struct PyPreprocessor {
  std::shared_ptr<Preprocessor> made;
  bool calls_functions = false;
};

// Only then is it worth a thread of its own, so that Ctrl-C ends it.
bool may_take_long(const PyPreprocessor& self, const HeldItems& held) {
  constexpr std::size_t kQuickItemsMax = 32;
  return self.calls_functions || held.has_places() || held.items().size() > kQuickItemsMax;
}

void construct_preprocessor(PyPreprocessor* self, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{
      "Preprocessor",
      {"recipe", "threads", "pixels_max", "store_endpoint", "store_region", "store_anonymous"},
      /*positional=*/1};
  const CallArguments given(signature, positional, named);
  const auto text = [&](const char* name) {
    const nb::handle value = given.unless_none(name);
    return value ? text_argument(name, value) : std::string();
  };
  const nb::handle threads = given.unless_none("threads"), pixels_max = given.unless_none("pixels_max");
  const Recipe recipe = recipe_argument(given["recipe"]);
  PreprocessorOptions options;
  if (threads) options.threads = static_cast<int>(integer_argument("threads", threads, 1, kThreadsMax));
  if (pixels_max) options.pixels_max = integer_argument("pixels_max", pixels_max, 1, kIntegerMax);
  options.store = {.endpoint = text("store_endpoint"),
                   .region = text("store_region"),
                   .anonymous = given["store_anonymous"] && flag_argument("store_anonymous", given["store_anonymous"])};
  const bool calls_functions = !recipe.functions().empty();
  if (calls_functions) be_home_of_functions();
  new (self) PyPreprocessor{make_shared_at_home<Preprocessor>(recipe, options), calls_functions};
}

PyBatch answer(const PyPreprocessor& self, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{
      "Preprocessor.__call__", {"items", "seed", "epoch", "position", "batch", "bad_sample"}, /*positional=*/1};
  const CallArguments given(signature, positional, named);
  const HeldItems held(*self.made, given["items"]);
  const Request request{.items = held.items(),
                        .seed = given["seed"] ? unsigned_argument("seed", given["seed"]) : 0,
                        .epoch = number_of(given, "epoch"),
                        .position = number_of(given, "position"),
                        .batch = number_of(given, "batch"),
                        .keeps_bad = keeps_bad(given["bad_sample"])};
  PyBatch batch;
  if (may_take_long(self, held)) {
    run_unless_interrupted([&](const std::stop_token& stop) { batch.batch = self.made->run(request, stop); });
  } else {
    const Unlocked unlocked;
    batch.batch = self.made->run(request);
  }
  return batch;
}

// As the stub file has them.
constexpr const char* kInit =
    "def __init__(self, recipe: Recipe | _Path, *, threads: int | None = None, pixels_max: int | None = None, "
    "store_endpoint: str | None = None, store_region: str | None = None, store_anonymous: bool = False) -> None";
constexpr const char* kCall =
    "def __call__(self, items: _Item | Iterable[_Item], *, seed: int = 0, epoch: int = 0, position: int = 0, batch: "
    "int = 0, bad_sample: str = 'fail') -> Batch";

}  // namespace

void bind_preprocessor(nb::module_& module) {
  nb::class_<PyPreprocessor>(
      module, "Preprocessor",
      "A recipe for inference: a call makes a batch of the images that it is given, with the pixels that a loader "
      "makes "
      "of them.\nMany threads may call it at once.\n\nrecipe: as for a Loader; its images must come out in one size\n"
      "threads: that work at the same time, for all callers; by default as many as there are cores\npixels_max: refuse "
      "images of more pixels; by default 89,000,000\nstore_endpoint, store_region, store_anonymous: as for open()"
      "\n\n>>> import glob\n"
      ">>> ready = stoker.Preprocessor(\"imagenet-val\")\n"
      ">>> ready(glob.glob(\"photos/*/*.jpg\")[:4]).image\n"
      "Tensor(shape=(4, 3, 224, 224), dtype='float32')")
      .def("__init__", &construct_preprocessor, nb::sig(kInit))
      .def("__call__", &answer, nb::sig(kCall),
           "A batch with a slot for each item, in their order. Its memory is used again when no reference to it is "
           "left.\n\nitems: images, each as its bytes, a path, a URL, or a dict of bytes by field with an optional "
           "'label'; or one of them\nseed, epoch, position, batch: select the random numbers; the positions of the "
           "other items follow that of the first\nbad_sample: 'fail' raises what is wrong with the first bad item; "
           "with 'skip' batch.valid is false for it, and batch.errors\ntells why")
      .def_prop_ro(
          "threads", [](const PyPreprocessor& self) { return self.made->threads(); },
          "How many threads work at the same time.")
      .def("__repr__", [](const PyPreprocessor& self) {
        return fmt::format("Preprocessor(fields=['{}'], threads={})", fmt::join(self.made->fields(), "', '"),
                           self.made->threads());
      });
}

}  // namespace stoker::python
