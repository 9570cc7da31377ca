// What a person is told when CUDA fails. No GPU is needed to fail.
#include "stoker/device/cuda/cuda_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Case {
  cudaError_t error;
  ErrorKind kind;
  const char* says;
};

class CudaCheck : public ::testing::TestWithParam<Case> {};

TEST_P(CudaCheck, TellsAPersonWhatToDo) {
  const Error error = error_of([] { check_cuda(GetParam().error, "cuda:3"); });
  EXPECT_EQ(error.kind(), GetParam().kind);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("cuda:3: "), HasSubstr(GetParam().says)));
  EXPECT_EQ(error.message().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, CudaCheck,
    ::testing::Values(Case{cudaErrorMemoryAllocation, ErrorKind::kMemory, "use a smaller batch or prefetch"},
                      Case{cudaErrorNoDevice, ErrorKind::kNotFound, "this machine has no GPU"},
                      Case{cudaErrorInsufficientDriver, ErrorKind::kNotFound,
                           "it needs a driver for CUDA 13.0 or newer"},
                      Case{cudaErrorNoKernelImageForDevice, ErrorKind::kNotFound, "build it for its architecture"},
                      Case{cudaErrorDevicesUnavailable, ErrorKind::kIo, "another process uses it exclusively"},
                      Case{cudaErrorIllegalAddress, ErrorKind::kIo, "this process cannot use it any more"},
                      Case{cudaErrorECCUncorrectable, ErrorKind::kIo, "this process cannot use it any more"},
                      Case{cudaErrorInvalidValue, ErrorKind::kIo, "cudaErrorInvalidValue"}));

TEST(CudaCheckOfSuccess, IsSilent) { EXPECT_NO_THROW(check_cuda(cudaSuccess, "cuda:0")); }

}  // namespace
}  // namespace stoker
