// What a careful user of OpenCV writes: decode, crop, resize, then one pass that flips, normalises and splits planes.
#pragma once

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "bench/peers/box.h"
#include "stoker/base/bytes.h"
#include "stoker/ops/color_map.h"

namespace stoker {

/// `box_of` gives the box of an image of some width and height. Not antialiased: OpenCV cannot, short of INTER_AREA.
template <typename BoxOf>
void opencv_transform(Bytes encoded, const BoxOf& box_of, const ColorMap& color, int side, float* planes) {
  const cv::Mat image = cv::imdecode(
      cv::Mat(1, static_cast<int>(encoded.size()), CV_8U, const_cast<std::uint8_t*>(encoded.data())), cv::IMREAD_COLOR);
  const Box box = box_of(image.cols, image.rows);
  cv::Mat resized;
  cv::resize(image(cv::Rect(box.x, box.y, box.width, box.height)), resized, cv::Size(side, side), 0, 0,
             cv::INTER_LINEAR);
  for (int y = 0; y < side; ++y) {
    const std::uint8_t* row = resized.ptr(y);
    for (int c = 0; c < 3; ++c) {
      float* to = planes + (c * side + y) * side;
      const float scale = color.scale[static_cast<std::size_t>(c)], bias = color.bias[static_cast<std::size_t>(c)];
      if (box.flip) {
        for (int x = 0; x < side; ++x) to[x] = static_cast<float>(row[3 * (side - 1 - x) + 2 - c]) * scale + bias;
      } else {
        for (int x = 0; x < side; ++x) to[x] = static_cast<float>(row[3 * x + 2 - c]) * scale + bias;
      }
    }
  }
}

}  // namespace stoker
