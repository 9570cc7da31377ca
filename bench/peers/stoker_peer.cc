// Stoker: its whole loader, one worker, on whatever data set it is given.
// Usage: bench_peer_stoker DATA planar|planar-scaled|faithful
#include <algorithm>
#include <iostream>

#include "bench/peers/peer.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/stoker.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

class StokerPeer {
 public:
  StokerPeer(const std::string& data, std::string mode) : dataset_(open(data)), mode_(std::move(mode)) {}

  // One loader for all runs, as in a training; without a cache (the default, said here all the same): what an epoch
  // learnt of an image, the next does not know. The watch runs from one batch's arrival to another's, after so many
  // that nothing is left of what was made ahead.
  std::int64_t run(int epochs, Stopwatch& watch) {
    if (!loader_) start();
    for (int batch = 0; batch < kLeadIn; ++batch) next();
    watch.start();
    std::int64_t samples = 0;
    while (samples < epochs * dataset_->size()) samples += next()->valid_count();
    return samples;
  }

  std::vector<float> pixels() {
    std::vector<float> planes;
    SampleRow row;
    for (std::int64_t sample = 0; sample < std::min(dataset_->size(), kPixelImages); ++sample) {
      dataset_->read(sample, row);
      const std::vector<float> image = centre(row);
      planes.insert(planes.end(), image.begin(), image.end());
    }
    return planes;
  }

 private:
  static constexpr int kPrefetch = 2;
  static constexpr int kLeadIn = kPrefetch + 2;

  void start() {
    Recipe recipe = decoding();
    recipe.random_resized_crop(kSide).random_flip().normalize("imagenet");
    loader_ = std::make_unique<Loader>(dataset_, recipe,
                                       LoaderOptions{.batch = kBatch,
                                                     .seed = 1,
                                                     .threads = 1,
                                                     .prefetch = kPrefetch,
                                                     .tune = TuneMode::kOff,
                                                     .tail = Tail::kPad,
                                                     .cache = CacheKind::kNone});
  }

  Recipe decoding() const {
    const bool scaled = mode_ == "planar-scaled";
    return Recipe().decode(scaled ? "planar" : mode_, "ignore", scaled ? "auto" : "full");
  }

  // Of the next epoch, after an epoch's last.
  BatchPtr next() {
    BatchPtr batch = loader_->next();
    return batch ? batch : loader_->next();
  }

  // A recipe names its crop by number, so each image has a recipe of its own here.
  std::vector<float> centre(const SampleRow& row) const {
    const SampleField& field = *row.image_field();
    std::vector<std::uint8_t> encoded(field.length), entry_points(row.entry_points.length);
    read_checked(row, field, encoded);
    if (!entry_points.empty()) read_fully(*row.entry_points_source, row.entry_points.offset, entry_points);
    const Bytes fields[] = {encoded};
    const SampleInput input{
        .fields = fields, .entry_points = entry_points, .entry_points_of = entry_points.empty() ? -1 : 0};

    const Plan whole(decoding());
    CpuExecutor whole_executor(whole);
    const Shape size = run_one(whole_executor, input)[0].spec.shape;  // channels, height, width
    const Box box = centre_box(static_cast<int>(size[2]), static_cast<int>(size[1]));
    const Plan plan(decoding().crop(box.x, box.y, box.width, box.height).resize(kSide, kSide).normalize("imagenet"));
    CpuExecutor executor(plan);
    const auto outputs = run_one(executor, input);
    const auto* values = reinterpret_cast<const float*>(outputs[0].bytes.data());
    return {values, values + kPlanes};
  }

  std::shared_ptr<const Dataset> dataset_;
  std::string mode_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    stoker::StokerPeer peer(argv[1], argv[2]);
    return stoker::serve([&](int epochs, stoker::Stopwatch& watch) { return peer.run(epochs, watch); },
                         [&] { return peer.pixels(); });
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
