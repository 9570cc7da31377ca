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
    {"epoch", "The epoch of this report; None: everything since the first batch."},
    {"samples", "Samples delivered in this time."},
    {"seconds", "Seconds of all steps, with the waits between them."},
    {"samples_per_s", "Rate at which samples were delivered."},
    {"samples_per_s_needed", "Rate that the steps would take without waiting; None if they take next to no time."},
    {"gpu_idle", "Share of the time spent waiting for batches."},
    {"steps", "Number of steps that have ended."},
    {"step_s", "Mean seconds of a step, without its wait."},
    {"wait_s", "Seconds spent waiting."},
    {"wait", "Shares of the waiting by cause; their sum is 1."},
    {"bottleneck",
     "The resource that limits the training, as the doctor names it; None before the first step has ended."},
    {"limits", "All known limits, the bottleneck first: dicts of resource and samples_per_s."},
    {"headspace", "What Loader.headspace() measured, as a dict; None if it was not called."},
};

nb::object as_dict(const LoaderReport& report) {
  return nb::module_::import_("json").attr("loads")(report.json().dump());
}

}  // namespace

void bind_report(nb::module_& module) {
  nb::class_<LoaderReport> report(module, "Report",
                                  "What limits a training; print() shows all of it."
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
