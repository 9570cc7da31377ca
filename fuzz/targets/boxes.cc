// The boxes of objects: COCO's JSON, Pascal VOC's XML, YOLO's lines.
#include <cmath>

#include "fuzz/fuzz_target.h"
#include "stoker/plan/box_reader.h"

namespace stoker {
namespace {

void run(Bytes input) {
  std::vector<LabeledBox> boxes;
  for (const BoxOptions::Source source :
       {BoxOptions::Source::kCoco, BoxOptions::Source::kVoc, BoxOptions::Source::kYolo}) {
    accepts({ErrorKind::kBadSample}, [&] {
      read_boxes({.source = source, .keeps_crowds = true, .names = {"dog", "person"}}, input, {640, 480}, boxes);
      for (const LabeledBox& box : boxes) {
        require_that(std::isfinite(box.left) && std::isfinite(box.bottom), "a box has sides");
        require_that(box.width() > 0 && box.height() > 0, "a box holds something");
      }
    });
  }
}

const AnnounceFuzzTarget kTarget({.name = "boxes", .run = run});

}  // namespace
}  // namespace stoker
