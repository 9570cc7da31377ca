// A LitData chunk's samples, or the list that says what chunks hold.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "stoker/format/litdata/litdata_format.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

/// Samples that have a value of each kind.
std::shared_ptr<const LitDataList> list_of_all_kinds() {
  auto list = std::make_shared<LitDataList>();
  list->leaves = {{.name = "image", .serializer = "bytes", .kind = LitDataKind::kBytes},
                  {.name = "label", .serializer = "int", .kind = LitDataKind::kInteger},
                  {.name = "path", .serializer = "str", .kind = LitDataKind::kText},
                  {.name = "array", .serializer = "numpy", .kind = LitDataKind::kNumpy},
                  {.name = "tensor", .serializer = "tensor", .kind = LitDataKind::kTensor},
                  {.name = "views", .serializer = "jpeg_array", .kind = LitDataKind::kImages},
                  {.name = "mask", .serializer = "pil", .kind = LitDataKind::kPixels},
                  {.name = "object", .serializer = "pickle", .kind = LitDataKind::kPickle}};
  return list;
}

/// What holds for every sample, whatever the file.
void check_row(const SampleRow& row, Bytes file) {
  require_that(!row.key.empty(), "a key names something");
  require_that(row.label >= -1, "a label is a number of a class, or unknown");
  require_that(!row.fields.empty(), "a sample has fields");
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    const bool is_inside = field.offset <= file.size() && field.length <= file.size() - field.offset;
    require_that(is_inside || field.offset >= file.size() + BlockTable::kGapBytes,
                 "a field lies in the file or in what it becomes");
    require_that(!field.name.empty(), "a field has a name");
    require_that(i == 0 || row.fields[i - 1].name < field.name, "fields stand in the order of their names");
  }
}

std::vector<std::string> scan(Bytes input, bool& sound) {
  MemorySource source("chunk-0-0.bin", std::vector(input.begin(), input.end()));
  std::vector<std::string> keys;
  sound = accepts({ErrorKind::kData}, [&] {
    LitDataSamples samples(source, list_of_all_kinds());
    SampleRow row;
    while (samples.next(row)) {
      check_row(row, input);
      keys.push_back(row.key);
    }
    require_that(!samples.next(row), "there is none after the last sample");
    samples.take_notes();
  });
  return keys;
}

void run(Bytes input) {
  accepts({ErrorKind::kData}, [&] {
    const std::optional<LitDataList> list = parse_litdata_list(input);
    require_that(!list || !list->leaves.empty() || !list->refusal.empty(), "samples that are read have values");
  });
  bool sound = false, again = false;
  const std::vector<std::string> keys = scan(input, sound);
  require_that(scan(input, again) == keys && again == sound, "a scan says the same again");
}

const AnnounceFuzzTarget kTarget({.name = "litdata", .run = run, .places_max = 300});

}  // namespace
}  // namespace stoker
