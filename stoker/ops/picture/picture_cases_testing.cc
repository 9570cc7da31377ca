#include "stoker/ops/picture/picture_cases_testing.h"

namespace stoker {

const std::vector<PictureCase>& picture_cases() {
  static const std::vector<PictureCase> cases = {
      {{"brightness", {{"factor", 0.7}}}, "9b76707e6b68882a"},
      {{"brightness", {{"factor", Numbers{0.5, 1.8}}}}, "6cd60eba4a317394"},
      {{"invert", {}}, "9a17d64c40630fc8"},
  };
  return cases;
}

}  // namespace stoker
