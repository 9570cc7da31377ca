// Recipes and images on which all executors must agree, and what it means that they do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/geometry.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/recipe.h"
#include "stoker/plan/reference_executor.h"

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

/// That both give the same outputs of a sample, or both refuse it; a failure is fatal and says `what`. Returns the
/// outputs, or nothing where they refuse it.
std::vector<SampleOutput> expect_same_outputs(CpuExecutor& fast, ReferenceExecutor& reference, const SampleInput& input,
                                              const std::string& what);

}  // namespace stoker
