#include "stoker/pack/pack_trial.h"

#include "stoker/pack/sample_stream.h"

namespace stoker {

PackTrial try_packing(const PackSource& source, const PackWork& work, const PackOptions& options, std::int64_t count) {
  const PackSelection& selection = source.selection();
  const auto spread = [&](std::int64_t at) { return selection.sample_at(at * selection.size() / count); };
  DatasetStream stream(source.samples(), 0, count, spread);
  SampleSweep sweep(stream, work.sweeping(), [&] { return work.begin(); });
  PackTrial trial;
  SampleRow row;
  for (std::int64_t at = 0; const SweptSample* sample = sweep.next(); ++at) {
    if (work.leaves_out(*sample)) continue;
    ++trial.kept;
    trial.bytes += options.format->bytes_of(sample->row);
    source.samples().read(spread(at), row);
    trial.before += bytes_untransformed(row, sample->row.label, *options.format);
  }
  return trial;
}

std::uint64_t bytes_untransformed(const SampleRow& row, std::int64_t label, const WritableFormat& format) {
  SampleRow labelled = row;
  label_row(labelled, label);
  return format.bytes_of(labelled);
}

}  // namespace stoker
