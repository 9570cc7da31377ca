// A function of the user's in a process of Python's, which the next call starts anew if it ended, hung or grew too
// large.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/function/python/python_process.h"
#include "stoker/function/python/shared_room.h"
#include "stoker/function/sample_function.h"

namespace stoker {

class PythonFunction final : public SampleFunction {
 public:
  PythonFunction(FunctionSpec spec, std::vector<ValueMeaning> taken, std::stop_token stop);

  void begin() override { end_ = 0; }
  MutableBytes take(std::size_t taken, DType dtype, const Shape& shape) override;
  void call(const FunctionSeed& seed, const GivenPlaces& place) override;
  std::int64_t inside_ns() const override { return inside_ns_; }
  void drop_scratch() override;

 private:
  struct Taken {
    DType dtype = DType::kU8;
    Shape shape{};
    std::size_t begin = 0;  // in the room
  };

  void start();
  void forget_process_that_ended();
  std::string message(const FunctionSeed& seed);
  std::string ask(const std::string& message, double timeout_s);
  void copy_given(const std::string& answer, const GivenPlaces& place);
  void check_memory();

  const FunctionSpec spec_;
  const std::vector<ValueMeaning> meanings_;
  const std::stop_token stop_;
  bool has_told_ = false;  // that a process was lost
  std::vector<Taken> taken_;
  std::vector<std::size_t> given_begin_;  // in the room, from where the values taken end
  SharedRoom room_;
  std::size_t end_ = 0, given_end_ = 0;
  std::unique_ptr<PythonProcess> process_;
  std::int64_t inside_ns_ = 0;
  int calls_ = 0;
  std::string why_not_;  // if it cannot be loaded, which is tried once
};

}  // namespace stoker
