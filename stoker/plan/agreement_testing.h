// Recipes and images on which all executors must agree, and what it means that they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/geometry.h"
#include "stoker/plan/recipe.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// Awkward ones.
extern const std::vector<ImageSize> kAgreementSizes;

/// Every family and mode; each has one view, of one size.
std::vector<Recipe> agreement_recipes();
/// Every operator on pictures.
std::vector<Recipe> picture_recipes();
/// Warps before operators of geometry.
std::vector<Recipe> source_warp_recipes();
/// Each operator that erases, in every type and layout.
std::vector<Recipe> erase_recipes();
/// Several views of one field each, which are decoded alike or not.
std::vector<Recipe> several_view_recipes();
Recipe random_recipe(Random& random);

/// One image of noise in several codecs and samplings.
std::vector<std::vector<std::uint8_t>> agreement_images(ImageSize size, std::uint64_t seed);

/// One of noise in each kind of PNG that is not plain RGB: grey, with alpha, of 16 bits.
std::vector<std::vector<std::uint8_t>> unusual_images(ImageSize size, std::uint64_t seed);

/// A JPEG that Exif says is to be turned.
std::vector<std::uint8_t> turned_jpeg(int width, int height, std::uint64_t seed, int orientation);

/// The executor's outputs of a sample; nothing where it refuses the sample.
std::optional<std::vector<SampleOutput>> outputs_or_refusal(SampleExecutor& executor, const SampleInput& input);

/// That the executor's outputs are these, or that it refuses the sample, too; a failure is fatal and says `what`.
void expect_outputs(SampleExecutor& executor, const SampleInput& input,
                    const std::optional<std::vector<SampleOutput>>& want, const std::string& what);

}  // namespace stoker
