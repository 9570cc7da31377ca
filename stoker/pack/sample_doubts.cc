#include "stoker/pack/sample_doubts.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/pending.h"
#include "stoker/format/class_number.h"
#include "stoker/format/dataset_views.h"
#include "stoker/pack/sample_check.h"
#include "stoker/storage/source.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {
namespace {

constexpr std::size_t kDoubtsReadAtOnce = 512;

void settle(const SampleField& field, Bytes beginning, SampleDoubt& doubt) {
  if (field.name != "cls") {
    doubt.lacks_array = doubt.lacks_array && !is_array(beginning, field.length);
    return;
  }
  const std::optional<std::int64_t> number = parse_whole_number(as_text(beginning), field.length);
  doubt.lacks_class = !number;
  doubt.says_unknown = number && *number < 0;
}

}  // namespace

SampleDoubts::SampleDoubts(const Dataset& samples, bool of_images, const std::stop_token& stop) {
  for_each_row(samples, stop, [&](std::int64_t sample, const SampleRow& row) { look_at(sample, row, of_images); });
  read_queued();
}

const SampleDoubt* SampleDoubts::find(std::int64_t sample) const {
  const auto found =
      std::lower_bound(doubts_.begin(), doubts_.end(), sample,
                       [](const SampleDoubt& doubt, std::int64_t wanted) { return doubt.sample < wanted; });
  return found != doubts_.end() && found->sample == sample ? &*found : nullptr;
}

void SampleDoubts::look_at(std::int64_t sample, const SampleRow& row, bool of_images) {
  const SampleField* const cls = row.label < 0 && !row.relabelled ? row.field("cls") : nullptr;
  const bool lacks_image = of_images && !row.image_field();
  if (!cls && !lacks_image) return;
  doubts_.push_back({.sample = sample, .lacks_class = cls != nullptr, .lacks_array = lacks_image});
  if (cls) queue(row, *cls, kClassNumberBytesMax);
  for (const SampleField& field : row.fields) {
    if (lacks_image && field.name.ends_with("npy")) queue(row, field, kNpyHeaderBytesMax);
  }
  if (queued_.size() >= kDoubtsReadAtOnce) read_queued();
}

void SampleDoubts::queue(const SampleRow& row, const SampleField& field, std::uint64_t bytes_max) {
  if (field.length == 0) return;  // neither a number nor an array
  queued_.push_back({doubts_.size() - 1, field, row.source,
                     std::vector<std::uint8_t>(static_cast<std::size_t>(std::min(field.length, bytes_max)))});
}

void SampleDoubts::read_queued() {
  std::deque<ReadRequest> requests;
  {
    Pending reads;
    for (Queued& queued : queued_) {
      ReadRequest& request = requests.emplace_back();
      request.part = queued.field.part;
      request.offset = queued.field.offset;
      queued.into = queued.bytes;
      request.into = Pieces(&queued.into, 1);
      start_pending(*queued.source, request, reads);
    }
  }
  for (std::size_t i = 0; i < queued_.size(); ++i) {
    const Queued& queued = queued_[i];
    const auto rethrow = [&] {
      if (requests[i].error) std::rethrow_exception(requests[i].error);
    };
    // Working on the sample will say what is wrong with it.
    if (!fault_of_data(rethrow, queued.source->is_remote())) settle(queued.field, queued.bytes, doubts_[queued.doubt]);
  }
  queued_.clear();
}

}  // namespace stoker
