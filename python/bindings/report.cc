// Report: what limits a training.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>
#include <string>

#include "python/bindings/module.h"
#include "stoker/runtime/report/loader_report.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

struct ReportProperty {
  const char *name, *doc;
};

// Of the report's JSON, in its order.
constexpr ReportProperty kProperties[] = {
    {"verdict", "What limits, in one sentence."},
    {"fed", "Whether the GPU is idle less than 5% of the time."},
    {"epoch", "The epoch that it is about; None: all since the first batch."},
    {"samples", "Delivered samples."},
    {"seconds", "The time of the steps and the waits between them."},
    {"samples_per_s", "In that time."},
    {"samples_per_s_needed", "What the steps alone could take; None if they take next to no time."},
    {"gpu_idle", "The share of the time that was waiting for batches."},
    {"steps", "Steps that have ended."},
    {"step_s", "The mean of a step in seconds, without its wait."},
    {"wait_s", "Seconds of waiting."},
    {"wait", "What the waiting was for: shares that sum to 1, by cause."},
    {"bottleneck", "The resource that limits, as the doctor names it; None before the first step has ended."},
    {"limits", "All that are known, the bottleneck first: dicts of resource and samples_per_s."},
    {"headspace", "What Loader.headspace() measured: a dict; None if it was not called."},
};

nb::object as_dict(const LoaderReport& report) {
  return nb::module_::import_("json").attr("loads")(report.json().dump());
}

}  // namespace

void bind_report(nb::module_& module) {
  nb::class_<LoaderReport> report(module, "Report",
                                  "What limits a training: print() shows all of it."
                                  "\n\n>>> loader = stoker.Loader(\"photos\", \"imagenet-train\", batch=8)\n"
                                  ">>> for batch in loader:\n"
                                  "...     pass  # train(batch)\n"
                                  ">>> report = loader.report()\n"
                                  ">>> report.samples\n"
                                  "24");
  report
      .def("as_dict", &as_dict, nb::sig("def as_dict(self) -> dict[str, Any]"),
           "All properties, by name."
           "\n\n>>> with stoker.Loader(\"photos\", \"imagenet-train\", batch=8, seed=7) as loader:\n"
           "...     for batch in loader:\n"
           "...         pass  # train(batch)\n"
           "...     loader.report().as_dict()[\"samples\"]\n"
           "24")
      .def("__str__", &LoaderReport::text)
      .def("__repr__", [](const LoaderReport& self) { return "Report('" + self.verdict() + "')"; });
  for (const ReportProperty& property : kProperties) {
    report.def_prop_ro(
        property.name, [name = property.name](const LoaderReport& self) -> nb::object { return as_dict(self)[name]; },
        property.doc);
  }
}

}  // namespace stoker::python
