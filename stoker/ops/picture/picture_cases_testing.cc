#include "stoker/ops/picture/picture_cases_testing.h"

namespace stoker {
namespace {

const OperatorCall kInvert{"invert", {}};
const OperatorCall kDarker{"brightness", {{"factor", 0.7}}};
const OperatorCall kAnyLight{"brightness", {{"factor", Numbers{0.5, 1.8}}}};

}  // namespace

const std::vector<PictureCase>& picture_cases() {
  static const std::vector<PictureCase> cases = {
      {{"brightness", {{"factor", 0.7}}}, "9b76707e6b68882a"},
      {{"brightness", {{"factor", Numbers{0.5, 1.8}}}}, "6cd60eba4a317394"},
      {{"invert", {}}, "9a17d64c40630fc8"},
      {{"random_apply", {{"operators", OperatorCalls{kDarker, kInvert}}, {"p", 0.6}}}, "94ab8d9c0633f76c"},
      {{"random_choice", {{"operators", OperatorCalls{kDarker, kInvert, kAnyLight}}, {"p", Numbers{1, 2, 3}}}},
       "6dedd46236d81160"},
      {{"random_order", {{"operators", OperatorCalls{kAnyLight, kInvert, kAnyLight, kDarker}}}}, "4134fead57dda7b5"},
      {{"sequence", {{"operators", OperatorCalls{kInvert, {"random_apply", {{"operators", OperatorCalls{kDarker}}}}}}}},
       "2a03c99d17b6b62c"},
  };
  return cases;
}

}  // namespace stoker
