// A tight loop around OpenCV in C++. Usage: bench_peer_opencv FOLDER
#include <opencv2/core.hpp>

#include "bench/peers/opencv_transform.h"
#include "bench/peers/peer.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  cv::setNumThreads(0);
  return stoker::serve_images(
      argv[1], [](stoker::Bytes encoded, const stoker::BoxOf& box_of, const stoker::ColorMap& color, float* planes) {
        stoker::opencv_transform(encoded, box_of, color, stoker::kSide, planes);
      });
}
