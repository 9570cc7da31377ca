#include "stoker/ops/erase/erase_cases_testing.h"

namespace stoker {

const std::vector<EraseCase>& erase_cases() {
  static const std::vector<EraseCase> cases = {
      {{"random_erasing", {}}, "90e5afbfdfca2a3b"},
      {{"random_erasing", {{"p", 1.0}, {"value", Numbers{0.25, -1, 300}}, {"min_count", 2.0}, {"max_count", 4.0}}},
       "3b1cc4f699ad3151"},
      {{"random_erasing", {{"p", 0.9}, {"mode", "rand"}, {"scale", Numbers{0.1, 0.3}}}}, "e3da2189dc534bce"},
      {{"random_erasing", {{"p", 1.0}, {"mode", "pixel"}, {"ratio", Numbers{0.5, 2}}, {"max_count", 3.0}}},
       "32f21e2199a4e739"},
      {{"cutout", {{"size", 9.0}}}, "3fbe326df3842e87"},
      {{"cutout", {{"size", Numbers{4, 30}}, {"count", 3.0}, {"value", 1.5}}}, "57abb82ab0018ac2"},
      {{"grid_mask", {{"d", Numbers{2, 20}}}}, "ed00973f11001c7f"},
      {{"grid_mask", {{"d", 13.0}, {"ratio", 0.3}, {"rotate", 360.0}, {"p", 0.8}, {"value", Numbers{1, 2, 3}}}},
       "efaaaba2c8c03fb4"},
  };
  return cases;
}

}  // namespace stoker
