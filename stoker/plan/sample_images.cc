#include "stoker/plan/sample_images.h"

#include <algorithm>

#include "stoker/plan/field_error.h"

namespace stoker {

SampleImages::SampleImages(const Plan& plan, DecodeLimits limits)
    : plan_(plan), decoder_(limits), planar_(plan.fields().size()), images_(plan.fields().size()) {
  const std::vector<ViewPlan>& views = plan.views();
  for (std::size_t view = 0; view < views.size(); ++view) {
    stages_.emplace_back(scratch_);
    if (views[view].kind != ViewKind::kImage) continue;
    views_.push_back(view);
    if (views[view].image.decode.mode == DecodeMode::kPlanar)
      planar_[static_cast<std::size_t>(views[view].field)] = true;
  }
  first_.resize(views.size());
  windows_.resize(views.size());
  work_.resize(views.size());
  sharing_.resize(views_.size());
  paths_.resize(views_.size());
}

void SampleImages::begin(const SampleInput& sample, bool for_device) {
  for (CodedImage& image : images_) image.encoded = {};
  for (const std::size_t view : views_) {
    const ViewPlan& plan = plan_.views()[view];
    const bool crosses = for_device && view < plan_.output_count();
    stages_[view].begin(plan, header(plan, sample), seen_image(plan, sample), sample.draw, crosses);
  }
  share_decodes();
}

CodedImage& SampleImages::header(const ViewPlan& view, const SampleInput& sample) {
  const auto field = static_cast<std::size_t>(view.field);
  CodedImage& image = images_[field];
  if (image.encoded.empty()) {
    image.encoded = sample.fields[field];
    image.entry_points = view.field == sample.entry_points_of ? sample.entry_points : Bytes();
    in_field(plan_, view, [&] {
      image.facts = decoder_.read_facts(image.encoded);
      image.planes = planar_[field] ? decoder_.plane_sizes(image.encoded, image.facts) : Planes();
    });
  }
  return image;
}

// Boxes are those of the view's own image, or of the one that it is as large as.
SeenImage SampleImages::seen_image(const ViewPlan& view, const SampleInput& sample) {
  const auto size_of_image = [&](const ViewPlan& other) {
    return upright_size(header(other, sample).facts, other.image.decode);
  };
  SeenImage seen = size_of_image(view);
  if (view.as_large_as) seen.as_large_as = size_of_image(plan_.views()[*view.as_large_as]);
  if (!view.looks_at) return seen;
  const ViewPlan& boxes = plan_.views()[*view.looks_at];
  const ImageSize theirs = size_of_image(plan_.views()[boxes.like]);
  read_boxes(boxes.objects.boxes, sample.fields[static_cast<std::size_t>(boxes.field)], theirs, objects_);
  const double across = static_cast<double>(seen.size.width) / theirs.width;
  const double down = static_cast<double>(seen.size.height) / theirs.height;
  boxes_.clear();
  for (const LabeledBox& box : objects_) {
    boxes_.push_back({box.left * across, box.top * down, box.right * across, box.bottom * down});
  }
  seen.boxes = boxes_;
  return seen;
}

// Beginning with each view by itself, puts those two together that save the most work, until none do.
void SampleImages::share_decodes() {
  for (const std::size_t view : views_) {
    const PixelPath& path = stages_[view].path();
    first_[view] = view;
    windows_[view] = path.window();
    work_[view] = path.decode_work(windows_[view]);
  }
  for (;;) {
    std::int64_t most = -1;
    std::size_t into = 0, from = 0;
    for (const std::size_t a : views_) {
      for (const std::size_t b : views_) {
        if (a >= b || first_[a] != a || first_[b] != b || !stages_[a].may_share_with(stages_[b])) continue;
        if ((a < plan_.output_count()) != (b < plan_.output_count())) continue;  // they may go on at different places
        const std::int64_t both = stages_[a].path().decode_work(enclosing(windows_[a], windows_[b]));
        const std::int64_t saved = work_[a] + work_[b] - both;
        if (saved > most) most = saved, into = a, from = b;
      }
    }
    if (most < 0) break;
    windows_[into] = enclosing(windows_[into], windows_[from]);
    work_[into] += work_[from] - most;
    for (const std::size_t view : views_) {
      if (first_[view] == from) first_[view] = into;
    }
  }
  list_decodes();
}

void SampleImages::list_decodes() {
  decodes_.clear();
  std::size_t listed = 0;
  for (const std::size_t first : views_) {
    if (first_[first] != first) continue;
    const std::size_t begin = listed;
    for (const std::size_t view : views_) {
      if (first_[view] != first) continue;
      sharing_[listed] = view;
      paths_[listed++] = &stages_[view].path();
    }
    decodes_.push_back({.window = windows_[first],
                        .views = std::span(sharing_).subspan(begin, listed - begin),
                        .paths = std::span(paths_).subspan(begin, listed - begin)});
  }
}

void SampleImages::decode(const SharedDecode& decode) {
  const DecodedImage decoded =
      in_field(plan_, view_of(decode), [&] { return decode.paths.front()->decode(decoder_, decode.window); });
  for (PixelPath* const path : decode.paths) path->use(decoded);
}

// One view after another uses it.
std::uint64_t SampleImages::picture_memory(std::uint64_t (ImageStages::*of)() const) const {
  std::uint64_t most = 0;
  for (const std::size_t view : views_) most = std::max(most, (stages_[view].*of)());
  return most;
}

std::uint64_t SampleImages::memory() const {
  std::uint64_t most = 0;
  for (const SharedDecode& decode : decodes_) {
    most = std::max(most, decode.paths.front()->decode_memory(decode.window));
  }
  return most + picture_memory(&ImageStages::picture_memory);
}

std::uint64_t SampleImages::memory_max() const {
  std::uint64_t most = 0;
  for (const std::size_t view : views_) {
    const ImageFacts& facts = images_[static_cast<std::size_t>(plan_.views()[view].field)].facts;
    most = std::max(most, stages_[view].path().decode_memory({0, 0, facts.width, facts.height}));
  }
  return most + picture_memory(&ImageStages::picture_memory_max);
}

bool SampleImages::hand_over_coded(const SharedDecode& decode, DeviceBatch::Room& room, std::span<DeviceItem> items) {
  return in_field(plan_, view_of(decode), [&] {
    return decode.paths.front()->hand_over_coded({decode.paths, decoder_, decode.window, room, items});
  });
}

bool SampleImages::hand_over_file(const SharedDecode& decode, DeviceBatch::Room& room, std::span<DeviceItem> items) {
  return in_field(plan_, view_of(decode), [&] {
    return decode.paths.front()->hand_over_file({decode.paths, decoder_, decode.window, room, items});
  });
}

bool SampleImages::hand_over_decoded(const SharedDecode& decode, DeviceBatch::Room& room, std::span<DeviceItem> items) {
  return in_field(plan_, view_of(decode), [&] {
    return decode.paths.front()->hand_over_decoded({decode.paths, decoder_, decode.window, room, items});
  });
}

}  // namespace stoker
