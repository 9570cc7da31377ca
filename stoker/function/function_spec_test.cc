#include "stoker/function/function_spec.h"

#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

FunctionSpec sound() {
  return {.name = "f", .python = "m:f", .takes = {{"image"}}, .gives = {{"image", DType::kU8, {4, 5, 3}}}};
}

std::string mistake_in(const FunctionSpec& spec) {
  return error_of([&] { check_function(spec); }).message();
}

TEST(FunctionSpec, KnowsItsMistakes) {
  check_function(sound());
  FunctionSpec spec = sound();
  spec.takes.clear();
  EXPECT_EQ(mistake_in(spec), "function 'f' takes no value: name a view");
  spec = sound();
  spec.gives.clear();
  EXPECT_EQ(mistake_in(spec), "function 'f' gives no value: name an output");
  spec = sound();
  spec.library = "l.so:f";
  EXPECT_EQ(mistake_in(spec), "function 'f' is either in Python or in a library: name one of them");
  spec = sound();
  spec.takes = {{"image", "a"}, {"mask"}};
  EXPECT_EQ(mistake_in(spec), "function 'f' takes values either all by name or all by place");
  spec = sound();
  spec.takes = {{"image"}, {"image"}};
  EXPECT_EQ(mistake_in(spec), "function 'f' takes view 'image' twice");
  spec = sound();
  spec.gives[0].shape = {1 << 20, 1 << 20, 1 << 20};
  EXPECT_EQ(mistake_in(spec), "function 'f': 'image' takes more than 1 GiB a sample");
  spec = sound();
  spec.arguments = "[1]";
  EXPECT_EQ(mistake_in(spec), "function 'f': arguments are not a JSON object, such as {\"strength\": 0.5}");
}

TEST(FunctionSpec, NamesFormsAndSourcesOfRandomNumbers) {
  for (const ValueForm form : {ValueForm::kNumpy, ValueForm::kTorch, ValueForm::kTorchvision, ValueForm::kPil}) {
    EXPECT_EQ(parse_value_form(to_string(form)), form);
  }
  for (const FunctionRandom random : {FunctionRandom::kSeeded, FunctionRandom::kOwn}) {
    EXPECT_EQ(parse_function_random(to_string(random)), random);
  }
  EXPECT_EQ(error_of([] { parse_value_form("numpi"); }).message(),
            "values 'numpi' is not known (did you mean 'numpy'?); known are numpy, torch, torchvision, pil");
}

}  // namespace
}  // namespace stoker
