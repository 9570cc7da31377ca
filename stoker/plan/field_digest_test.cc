#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kSomeBytes = "not a picture";

std::array<std::uint64_t, 2> digest_by(SampleExecutor& executor) {
  const Bytes fields[] = {as_bytes(kSomeBytes)};
  const std::vector<SampleOutput> outputs = run_one(executor, {.fields = fields});
  std::array<std::uint64_t, 2> numbers{};
  EXPECT_EQ(outputs[0].bytes.size(), sizeof(numbers));
  std::memcpy(numbers.data(), outputs[0].bytes.data(), sizeof(numbers));
  return numbers;
}

TEST(FieldDigest, IsTheLengthAndTheHashOfAField) {
  const Plan plan(Recipe().view("image", "record").digest());
  EXPECT_THAT(plan.fields(), ElementsAre("record"));
  ASSERT_EQ(plan.outputs().size(), 1u + 1u) << "and the label";
  const Plan shipped(Recipe::named("records"));
  ASSERT_EQ(shipped.outputs().size(), 1u);
  EXPECT_EQ(shipped.outputs()[0].dtype, DType::kI64);
  EXPECT_EQ(shipped.outputs()[0].shape, Shape{2});
  CpuExecutor fast(shipped);
  ReferenceExecutor reference(shipped);
  EXPECT_THAT(digest_by(fast), ElementsAre(kSomeBytes.size(), hash64(kSomeBytes)));
  EXPECT_EQ(digest_by(reference), digest_by(fast));
}

TEST(FieldDigest, StandsAlone) {
  const auto refusal = [](const std::string& operators) {
    const std::string toml = "[[view]]\nname = 'x'\nfield = 'record'\noperators = [" + operators + "]";
    return error_of([&] { Plan(Recipe::from_toml(toml)); }).message();
  };
  EXPECT_THAT(refusal("{op = 'digest'}, {op = 'one_hot', classes = 4}"), HasSubstr("nothing can follow digest"));
  EXPECT_THAT(refusal("{op = 'digest'}, {op = 'digest'}"), HasSubstr("nothing can follow digest"));
  EXPECT_THAT(refusal("{op = 'decode'}, {op = 'digest'}"), HasSubstr("must be the view's first operator"));
}

}  // namespace
}  // namespace stoker
