#include "stoker/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/cpu_executor.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> stage_names(const Plan& plan) {
  std::vector<std::string> names;
  for (const StageSpec& stage : plan.stages()) names.push_back(stage.name);
  return names;
}

TEST(Plan, NamesStagesByTheirViewWhereThereAreSeveral) {
  EXPECT_THAT(stage_names(Plan(Recipe().decode().resize(8, 8))), ElementsAre("decode", "geometry", "color"));
  Recipe two = Recipe().decode().resize(8, 8);
  two.view("small", "image").decode().resize(4, 4);
  EXPECT_THAT(stage_names(Plan(two)), ElementsAre("image.decode", "image.geometry", "image.color", "small.decode",
                                                  "small.geometry", "small.color"));
}

TEST(Plan, DeclaresWhatEachStagePutsOut) {
  const Plan fixed(Recipe().decode().resize(8, 6).normalize("imagenet"));
  EXPECT_EQ(fixed.stages()[0].bytes_out, std::nullopt) << "depends on the image";
  EXPECT_EQ(fixed.stages()[1].bytes_out, 8 * 6 * 3);
  EXPECT_EQ(fixed.stages()[2].bytes_out, 8 * 6 * 3 * 4);
  EXPECT_THAT(fixed.stages()[1].operators, ElementsAre(HasSubstr("resize")));
  EXPECT_EQ(Plan(Recipe().decode().resize(8)).stages()[2].bytes_out, std::nullopt);
}

TEST(Plan, ReadsAFieldOnceForAllItsViews) {
  Recipe recipe = Recipe().decode().resize(8, 8);
  recipe.view("small", "image").decode().resize(4, 4);
  recipe.view("mask", "mask.png").decode().resize(4, 4, "nearest");
  EXPECT_THAT(Plan(recipe).fields(), ElementsAre("image", "mask.png"));
}

// An operator that occurs twice draws twice: two flips that always agreed would never flip at all.
TEST(Plan, DrawsEachOccurrenceOfAnOperatorAnew) {
  const Plan plan(Recipe().decode().random_flip(0.5).random_flip(0.5));
  const std::vector<std::uint8_t> encoded = noisy_png(9, 5, 1);
  const Bytes fields[] = {encoded};
  CpuExecutor executor(plan);
  std::set<std::vector<std::uint8_t>> seen;
  for (std::uint64_t position = 0; position < 40; ++position)
    seen.insert(run_one(executor, {.fields = fields, .draw = {1, 1, position}})[0].bytes);
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Plan, RefusesOperatorsOutOfOrder) {
  try {
    const Plan plan(Recipe().decode().normalize("imagenet").resize(8, 8));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("resize (geometry) must come before normalize (color)"));
  }
}

}  // namespace
}  // namespace stoker
