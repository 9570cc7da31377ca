#include "stoker/device/emulated_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/spelling.h"
#include "stoker/base/units.h"
#include "stoker/codec/jpeg/jpeg_decoder.h"
#include "stoker/device/accelerator.h"

namespace stoker {
namespace {

// It is done when the time has come.
class DeadlineEvent final : public DeviceEvent {
 public:
  explicit DeadlineEvent(std::int64_t at_ns, const StageTimes& stages_ns = {}) : at_ns_(at_ns), stages_ns_(stages_ns) {}

  bool wait_for(std::int64_t patience_ns) const override {
    const std::int64_t now = now_ns();
    if (now >= at_ns_) return true;
    sleep_until(std::min(at_ns_, now + patience_ns));
    return now_ns() >= at_ns_;
  }
  void wait_for_memory() const override {}  // it never looks at it again
  std::int64_t done_ns() const override { return at_ns_; }
  StageTimes stages_ns() const override { return stages_ns_; }

 private:
  const std::int64_t at_ns_;
  const StageTimes stages_ns_;
};

// --- the one that computes

template <class Kernel>
struct HostRun {
  static void function(const DeviceLaunch& launch) {
    typename Kernel::Args args;
    std::memcpy(&args, launch.args.data(), sizeof(args));
    run_grid_on_host<Kernel>(args, launch.blocks);
  }
};

void copy(const DeviceCopy& copy) {
  if (copy.from) {
    std::memcpy(copy.to, copy.from, copy.bytes);
  } else {
    std::memset(copy.to, 0, copy.bytes);
  }
}

bool same_sizes(const Planes& planes, const DeviceDecode& decode) {
  if (planes.count != decode.plane_count) return false;
  for (int i = 0; i < planes.count; ++i) {
    const Plane& plane = planes.plane[static_cast<std::size_t>(i)];
    if (plane.whole_width != decode.plane[i].width || plane.whole_height != decode.plane[i].height) return false;
  }
  return true;
}

// What stands in for nvJPEG. False: it refuses the file.
bool decode_file(const DeviceDecode& decode, JpegDecoder& decoder) {
  try {
    const Planes planes =
        decoder.decode_planes(decode.file, decode.facts, {0, 0, decode.facts.width, decode.facts.height});
    if (!same_sizes(planes, decode)) return false;
    for (int i = 0; i < planes.count; ++i) {
      const DeviceDecode::Plane& to = decode.plane[i];
      for (int row = 0; row < to.height; ++row) {
        std::memcpy(to.samples + static_cast<std::size_t>(row) * to.row_stride,
                    planes.plane[static_cast<std::size_t>(i)].at(0, row), static_cast<std::size_t>(to.width));
      }
    }
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kMemory) throw;
    return false;
  }
}

class EmulatedDevice : public Device {
 public:
  explicit EmulatedDevice(std::string name) : name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  bool memory_is_host() const override { return true; }
  Allocator& staging() override { return host_allocator(); }
  Allocator& memory() override { return host_allocator(); }
  void open_nvjpeg() override {}

  void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  // Batches come when they are done, to consumers on the host.
  void make_wait(DeviceStream, const DeviceEvent&) override {}
  std::shared_ptr<const StreamMark> mark(DeviceStream) noexcept override { return nullptr; }

 private:
  const std::string name_;
};

class ExecutingDevice final : public EmulatedDevice {
 public:
  using EmulatedDevice::EmulatedDevice;

  bool computes() const override { return true; }
  std::string caveat() const override { return "The host did the device's work: these rates are not those of a GPU."; }

  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>>) override {
    static constexpr auto kRun = DeviceKernels::table<HostRun>();
    const std::lock_guard lock(one_after_another_);  // all tasks use the same scratch memory
    for (const DeviceCopy& in : task.copies_in) copy(in);
    JpegDecoder decoder;
    task.in_order(
        [&](const DeviceDecode& decode) {
          if (!decode_file(decode, decoder)) *decode.fault = 1;
        },
        [](const DeviceLaunch& launch) { kRun[static_cast<std::size_t>(launch.kernel)](launch); });
    for (const DeviceCopy& out : task.copies_out) copy(out);
    return std::make_shared<DeadlineEvent>(now_ns());
  }

 private:
  std::mutex one_after_another_;
};

// --- the one that waits

class ModelledDevice final : public EmulatedDevice {
 public:
  ModelledDevice(std::string name, DeviceModel model) : EmulatedDevice(std::move(name)), model_(std::move(model)) {}

  bool computes() const override { return false; }
  std::string caveat() const override {
    return fmt::format(
        "No pixels were computed: {} is a model that copies {}/s, accesses its memory at {}/s, decodes {}/s of JPEGs "
        "({}/s by nvJPEG), and starts a kernel in {:.3g} us.",
        name(), format_size(model_.copy_bytes_per_s), format_size(model_.memory_bytes_per_s),
        format_size(model_.coded_bytes_per_s), format_size(model_.nvjpeg_bytes_per_s), model_.launch_s * 1e6);
  }

  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>>) override {
    double copying_s = 0;
    StageTimes stages_ns{};
    const auto compute = [&](std::size_t run, double seconds) { stages_ns[run] += nanoseconds(seconds); };
    for (const DeviceCopy& in : task.copies_in) {
      copying_s += model_.launch_s;
      if (in.from) copying_s += static_cast<double>(in.bytes) / model_.copy_bytes_per_s;
    }
    for (const DeviceLaunch& launch : task.launches) {
      compute(stage_run_of(launch), model_.launch_s + static_cast<double>(launch.bytes) / model_.memory_bytes_per_s +
                                        static_cast<double>(launch.coded_bytes) / model_.coded_bytes_per_s);
    }
    for (const DeviceDecode& decode : task.decodes) {
      compute(kDeviceDecodeRun, model_.launch_s + static_cast<double>(decode.file.size()) / model_.nvjpeg_bytes_per_s);
    }
    // What comes back is a few words; it must not say that anything was wrong.
    for (const DeviceCopy& out : task.copies_out) std::memset(out.to, 0, out.bytes);
    const std::lock_guard lock(mutex_);
    copies_end_ns_ = std::max(copies_end_ns_, now_ns()) + nanoseconds(copying_s);
    kernels_end_ns_ = std::max(kernels_end_ns_, copies_end_ns_) +
                      std::accumulate(stages_ns.begin(), stages_ns.end(), std::int64_t{0});
    return std::make_shared<DeadlineEvent>(kernels_end_ns_, stages_ns);
  }

 private:
  static std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

  const DeviceModel model_;
  std::mutex mutex_;
  std::int64_t copies_end_ns_ = 0, kernels_end_ns_ = 0;
};

double parse_rate(std::string_view text) {
  if (!text.ends_with("/s")) fail(ErrorKind::kUsage, "'{}' is not a rate; write it as 12GB/s", text);
  return static_cast<double>(parse_size(text.substr(0, text.size() - 2)));
}

double parse_seconds(std::string_view text) {
  const std::optional<double> number = parse_number<double>(text);
  if (number && *number >= 0 && *number <= 1) return *number;
  fail(ErrorKind::kUsage, "'{}' is not a time between 0 and 1 seconds", text);
}

DeviceModel model_of(std::string_view name) {
  std::vector<std::string> names = {"execute"};
  for (const DeviceModel& model : device_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  fail(ErrorKind::kUsage, "there is no emulated device '{}'{}; there are {}", name, did_you_mean(name, names),
       fmt::join(names, ", "));
}

// "copy=12GB/s"
void change(DeviceModel& model, std::string_view figure) {
  const std::size_t sign = std::min(figure.find('='), figure.size());
  const std::string_view what = figure.substr(0, sign), value = figure.substr(std::min(sign + 1, figure.size()));
  if (what == "launch") {
    model.launch_s = parse_seconds(value);
    return;
  }
  double* const rate = what == "copy"     ? &model.copy_bytes_per_s
                       : what == "memory" ? &model.memory_bytes_per_s
                       : what == "coded"  ? &model.coded_bytes_per_s
                       : what == "nvjpeg" ? &model.nvjpeg_bytes_per_s
                                          : nullptr;
  if (!rate) {
    fail(ErrorKind::kUsage,
         "an emulated device has no parameter '{}'; its parameters are copy, memory, coded, nvjpeg, launch", what);
  }
  *rate = parse_rate(value);
  if (*rate <= 0) fail(ErrorKind::kUsage, "an emulated device's {} must be more than 0 bytes a second", what);
}

}  // namespace

const std::vector<DeviceModel>& device_models() {
  // Of the links (PCIe 3, 4 and 5 with 16 lanes) three quarters to seven eighths, and of the memory's speed four
  // fifths, as benchmarks commonly reach. How fast they decode is a guess, in proportion to their memory, and
  // that nvJPEG takes five times as long another.
  static const std::vector<DeviceModel> models = {
      {"t4", 12e9, 0.8 * 0.32e12, 0.2e9, 0.04e9, 5e-6},
      {"v100", 12e9, 0.8 * 0.9e12, 0.6e9, 0.12e9, 5e-6},
      {"a100", 25e9, 0.8 * 2.0e12, 1.3e9, 0.26e9, 5e-6},
      {"h100", 55e9, 0.8 * 3.35e12, 2.2e9, 0.44e9, 5e-6},
  };
  return models;
}

std::shared_ptr<Device> open_emulated_device(std::string_view what) {
  const std::string name = fmt::format("emulated:{}", what);
  if (what == "execute") return std::make_shared<ExecutingDevice>(name);
  std::size_t comma = std::min(what.find(','), what.size());
  DeviceModel model = model_of(what.substr(0, comma));
  while (comma < what.size()) {
    const std::size_t begin = comma + 1;
    comma = std::min(what.find(',', begin), what.size());
    change(model, what.substr(begin, comma - begin));
  }
  return std::make_shared<ModelledDevice>(name, std::move(model));
}

}  // namespace stoker
