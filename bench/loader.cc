// One side of the loader benchmark: a process that is told over stdin which loop to run over the images, and answers
// with seconds. bench/loader.py starts several of these, pins them to cores and runs their loops in turn.
//
//   commands: check | opencv | bare | loader      answer: one line of JSON
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/peers/opencv_transform.h"
#include "stoker/base/clock.h"
#include "stoker/order/epoch_order.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"
#include "stoker/stoker.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

constexpr int kSide = 224;
constexpr int kBatch = 64;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class LoaderBench {
 public:
  LoaderBench(const std::string& data, int threads, int epochs)
      : dataset_(open(data)),
        recipe_(Recipe::named("imagenet-train")),
        plan_(recipe_),
        threads_(threads),
        epochs_(epochs) {}

  nlohmann::json run(const std::string& command) {
    if (command == "check") return check();
    const std::int64_t began = now_ns();
    const double cpu_began = cpu_seconds();
    std::int64_t samples = 0;
    if (command == "opencv") {
      samples = each_sample([&](const SampleInput& input, const OutputPlaces& place) {
        opencv(input, place(0, plan_.outputs()[0].shape));
      });
    } else if (command == "bare") {
      CpuExecutor executor(plan_);
      samples = each_sample([&](const SampleInput& input, const OutputPlaces& place) { executor.run(input, place); });
    } else if (command == "loader") {
      samples = loader();
    } else {
      fail(ErrorKind::kUsage, "unknown command '{}'", command);
    }
    return {{"samples", samples},
            {"seconds", 1e-9 * static_cast<double>(now_ns() - began)},
            {"cpu_seconds", cpu_seconds() - cpu_began}};
  }

 private:
  using PerSample = std::function<void(const SampleInput&, const OutputPlaces&)>;

  // The plain loop around per-sample work: read a file, work, next; results go into a batch as large as the loader's.
  std::int64_t each_sample(const PerSample& work) {
    Batch batch(plan_.outputs(), kBatch, host_allocator());
    std::vector<std::uint8_t> encoded;
    SampleRow row;
    std::int64_t samples = 0;
    for (int epoch = 0; epoch < epochs_; ++epoch) {
      const EpochOrder order({.samples = dataset_->size(), .seed = 1}, epoch);
      for (std::int64_t position = 0; position < dataset_->size(); ++position, ++samples) {
        const std::int64_t sample = *order.sample_at(position);
        dataset_->read(sample, row);
        const SampleField& field = *row.image_field();
        encoded.resize(field.length);
        read_fully(*row.source, field.offset, encoded, field.part);
        const Bytes fields[] = {encoded};
        const int slot = static_cast<int>(position % kBatch);
        work({.fields = fields, .label = row.label, .draw = draw(epoch, position)},
             [&batch, slot](std::size_t output, const Shape& shape) { return batch.place(output, slot, shape); });
      }
    }
    return samples;
  }

  static SampleDraw draw(int epoch, std::int64_t position) {
    return {1, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(position)};
  }

  // The boxes are Stoker's own, so that both do the same work.
  void opencv(const SampleInput& input, MutableBytes out) const {
    const ImageProgram& program = plan_.views()[0].image;
    const auto box = [&](int width, int height) { return drawn_box(program.geometry, width, height, input.draw); };
    opencv_transform(input.fields[0], box, program.color, kSide, reinterpret_cast<float*>(out.data()));
  }

  std::int64_t loader() {
    Loader loader(dataset_, recipe_,
                  {.batch = kBatch, .seed = 1, .threads = threads_, .tail = Tail::kPad, .epochs_end = epochs_});
    std::int64_t samples = 0;
    for (int epoch = 0; epoch < epochs_; ++epoch) {
      for (const BatchPtr& batch : loader.epoch(epoch)) samples += batch->valid_count();
    }
    return samples;
  }

  // The fast path against the reference executor, and how far OpenCV's pixels are from ours.
  nlohmann::json check() {
    CpuExecutor fast(plan_);
    ReferenceExecutor reference(plan_);
    std::vector<std::uint8_t> encoded;
    double squares = 0;
    std::int64_t different = 0, checked = 0;
    for (std::int64_t sample = 0; sample < dataset_->size();
         sample += std::max<std::int64_t>(1, dataset_->size() / 20), ++checked) {
      const SampleRow row = dataset_->row(sample);
      const SampleField& field = *row.image_field();
      encoded.resize(field.length);
      read_fully(*row.source, field.offset, encoded, field.part);
      const Bytes fields[] = {encoded};
      const SampleInput input{.fields = fields, .label = 0, .draw = draw(0, sample)};
      const auto ours = run_one(fast, input), want = run_one(reference, input);
      different += ours[0].bytes != want[0].bytes ? 1 : 0;
      std::vector<std::uint8_t> theirs(ours[0].bytes.size());
      opencv(input, theirs);
      const auto* a = reinterpret_cast<const float*>(ours[0].bytes.data());
      const auto* b = reinterpret_cast<const float*>(theirs.data());
      for (std::size_t i = 0; i < theirs.size() / sizeof(float); ++i) {
        const double levels = (a[i] - b[i]) / plan_.views()[0].image.color.scale[i / (kSide * kSide)];
        squares += levels * levels / (3.0 * kSide * kSide);
      }
    }
    return {{"checked", checked},
            {"different", different},
            {"opencv_psnr", 10 * std::log10(255 * 255 / (squares / static_cast<double>(checked)))}};
  }

  std::shared_ptr<const Dataset> dataset_;
  Recipe recipe_;
  Plan plan_;
  int threads_, epochs_;
};

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: bench_loader DATA THREADS EPOCHS, then commands on stdin: check, opencv, bare, loader\n";
    return 2;
  }
  cv::setNumThreads(0);
  try {
    stoker::LoaderBench bench(argv[1], std::stoi(argv[2]), std::stoi(argv[3]));
    for (std::string command; std::getline(std::cin, command);) std::cout << bench.run(command) << '\n' << std::flush;
  } catch (const std::exception& error) {
    std::cerr << "bench_loader: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
