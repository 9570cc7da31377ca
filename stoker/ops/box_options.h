// The arguments of decode_boxes: how the boxes of a sample's objects are written, and which of them are kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/ops/operator_call.h"

namespace stoker {

struct BoxOptions {
  enum class Source : std::uint8_t {
    kCoco,  // JSON: objects with bbox [x, y, width, height] and category_id, alone or as `annotations`
    kVoc,   // Pascal VOC's XML, which counts pixels from 1
    kYolo,  // lines of class, middle and size, as fractions of the image
  };
  enum class Form : std::uint8_t { kCorners, kCornerAndSize, kMiddleAndSize };

  Source source = Source::kCoco;
  Form form = Form::kCorners;
  bool fractions = false;            // of the output's size
  double size_min = 1;               // pixels of the output, of each side
  double visible_min = 0;            // share of a box's area
  bool middle_seen = false;          // of boxes that are kept
  bool keeps_crowds = false;         // boxes of groups, and those that are marked difficult
  int most = 0;                      // in a sample
  std::vector<std::string> names{};  // of the classes, where they are written as names
  bool is_optional = false;          // a text of no bytes has no objects; else it is read as any other
  bool with_details = false;         // other views ask for shapes or keypoints of the objects
};

/// Throws kUsage for a list of names that has an empty or a double one.
BoxOptions box_options_of(const OperatorCall& call);

}  // namespace stoker
