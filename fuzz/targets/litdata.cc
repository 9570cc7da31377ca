// A LitData chunk's samples, or the list that says what chunks hold.
#include <memory>
#include <string>
#include <vector>

#include "fuzz/sample_scan.h"
#include "stoker/format/litdata/litdata_format.h"

namespace stoker {
namespace {

/// Samples that have a value of each kind.
std::shared_ptr<const LitDataList> list_of_all_kinds(bool is_zstd_by_one) {
  auto list = std::make_shared<LitDataList>();
  list->is_zstd_by_one = is_zstd_by_one;
  list->leaves = {{.name = "image", .serializer = "bytes", .kind = LitDataKind::kBytes},
                  {.name = "label", .serializer = "int", .kind = LitDataKind::kInteger},
                  {.name = "path", .serializer = "str", .kind = LitDataKind::kText},
                  {.name = "array", .serializer = "numpy", .kind = LitDataKind::kNumpy},
                  {.name = "tensor", .serializer = "tensor", .kind = LitDataKind::kTensor},
                  {.name = "views", .serializer = "jpeg_array", .kind = LitDataKind::kImages},
                  {.name = "mask", .serializer = "pil", .kind = LitDataKind::kPixels},
                  {.name = "boxes", .serializer = "json", .kind = LitDataKind::kNested},
                  {.name = "object", .serializer = "pickle", .kind = LitDataKind::kPickle}};
  return list;
}

void run(Bytes input) {
  accepts({ErrorKind::kData}, [&] {
    const std::optional<LitDataList> list = parse_litdata_list(input);
    require_that(!list || !list->leaves.empty() || !list->refusal.empty(), "samples that are read have values");
  });
  for (const bool is_zstd_by_one : {false, true}) {
    check_scans(
        input, "chunk-0-0.bin",
        [&](Source& source) { return std::make_unique<LitDataSamples>(source, list_of_all_kinds(is_zstd_by_one)); },
        [](const SampleRow&, std::vector<std::string>&) {});
  }
}

const AnnounceFuzzTarget kTarget({.name = "litdata", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
