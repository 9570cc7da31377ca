#include "stoker/device/emulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

Error refusal(std::string_view name) {
  return error_of([&] { open_device(name); });
}

TEST(EmulatedDevice, IsFoundByItsName) {
  EXPECT_EQ(open_device("cpu"), nullptr);
  EXPECT_EQ(open_device("emulated:execute")->name(), "emulated:execute");
  EXPECT_TRUE(open_device("emulated:execute")->computes());
  EXPECT_FALSE(open_device("emulated:a100")->computes());
  for (const DeviceModel& model : device_models()) EXPECT_TRUE(open_device("emulated:" + model.name)) << model.name;
}

TEST(EmulatedDevice, RefusesWhatIsNoneInASentence) {
  const std::array<std::pair<const char*, const char*>, 9> cases = {{
      {"gpu", "there is no device 'gpu'"},
      {"emulated:", "there is no emulated device ''"},
      {"emulated:b100", "did you mean"},
      {"emulated:h100,copy=12", "'12' is not a rate; write it as 12GB/s"},
      {"emulated:h100,copy=0B/s", "more than 0 bytes"},
      {"emulated:h100,cores=5", "its parameters are copy, memory, coded"},
      {"emulated:h100,launch=-1", "'-1' is not a time"},
      {"emulated:h100,launch=2", "'2' is not a time between 0 and 1 seconds"},
      {"emulated:h100,", "an emulated device has no parameter ''"},
  }};
  for (const auto& [name, says] : cases) {
    const Error error = refusal(name);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << name;
    EXPECT_THAT(error.message(), HasSubstr(says)) << name;
  }
}

TEST(EmulatedDevice, SaysWhatItsFiguresAreAndThatItMakesNoPixels) {
  EXPECT_THAT(
      open_device("emulated:t4,copy=3GB/s,launch=7e-6")->caveat(),
      AllOf(HasSubstr("No pixels were computed"), HasSubstr("emulated:t4"), HasSubstr("3.00 GB/s"), HasSubstr("7 us")));
  EXPECT_THAT(open_device("emulated:execute")->caveat(), HasSubstr("The host did"));
}

DeviceTask copy_of(std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from) {
  DeviceTask task;
  task.copies_in.push_back({to.data(), from.data(), from.size()});
  return task;
}

TEST(EmulatedDevice, ExecutesCopiesInTheirOrder) {
  const std::shared_ptr<Device> device = open_device("emulated:execute");
  const std::vector<std::uint8_t> from = {1, 2, 3, 4};
  std::vector<std::uint8_t> on_device(4), back(4), fetched(4);
  DeviceTask task = copy_of(on_device, from);
  task.copies_in.push_back({on_device.data() + 1, nullptr, 2});
  task.copies_out.push_back({back.data(), on_device.data(), 4});
  const std::shared_ptr<DeviceEvent> event = device->submit(task, {});
  EXPECT_TRUE(event->wait_for(0));
  EXPECT_EQ(event->busy_ns(), 0) << "nothing is measured";
  EXPECT_THAT(back, testing::ElementsAre(1, 0, 0, 4));
  device->fetch(fetched.data(), on_device.data(), 4);
  EXPECT_EQ(fetched, back);
}

DeviceLaunch launch_of(std::uint64_t bytes, std::uint64_t coded_bytes = 0) {
  DeviceLaunch launch;
  launch.bytes = bytes;
  launch.coded_bytes = coded_bytes;
  return launch;
}

// Whichever threads submit them: what one leaves in scratch memory is its own until it ends.
TEST(EmulatedDevice, ExecutesTasksOneAfterAnother) {
  const std::shared_ptr<Device> device = open_device("emulated:execute");
  const std::shared_ptr<const Memory> scratch = device->scratch(std::size_t{1} << 20);
  EXPECT_EQ(device->scratch(1000), scratch);
  const auto submit = [&](std::uint8_t value) {
    const std::vector<std::uint8_t> from(scratch->size(), value);
    std::vector<std::uint8_t> back(scratch->size());
    DeviceTask task;
    task.copies_in.push_back({scratch->data(), from.data(), from.size()});
    task.copies_out.push_back({back.data(), scratch->data(), back.size()});
    for (int i = 0; i < 100; ++i) {
      device->submit(task, {});
      ASSERT_EQ(back, from);
    }
  };
  std::vector<std::thread> threads;
  for (const std::uint8_t value : {1, 2, 3}) threads.emplace_back(submit, value);
  for (std::thread& thread : threads) thread.join();
}

TEST(EmulatedDevice, AModelIsDoneWhenTheBytesHaveHadTheirTime) {
  const std::shared_ptr<Device> device = open_device("emulated:h100,copy=1MB/s,memory=10MB/s,coded=1MB/s,launch=0.001");
  const std::vector<std::uint8_t> from(4000);
  std::vector<std::uint8_t> to(4000, 7), back(4, 7);
  DeviceTask task = copy_of(to, from);
  task.launches = {launch_of(50'000), launch_of(0, 3000)};
  task.copies_out.push_back({back.data(), to.data(), 4});
  const std::int64_t before = now_ns();
  const std::shared_ptr<DeviceEvent> event = device->submit(task, {});
  const std::int64_t after = now_ns();
  EXPECT_EQ(event->busy_ns(), (1 + 5) * kMs + (1 + 3) * kMs);
  EXPECT_GE(event->done_ns(), before + (1 + 4) * kMs + event->busy_ns());
  EXPECT_LE(event->done_ns(), after + (1 + 4) * kMs + event->busy_ns());
  EXPECT_TRUE(event->wait_for(1000 * kMs));
  EXPECT_GE(now_ns(), event->done_ns());
  EXPECT_EQ(to, std::vector<std::uint8_t>(4000, 7)) << "it computes nothing";
  EXPECT_EQ(back, std::vector<std::uint8_t>(4)) << "and says that nothing was wrong";
}

TEST(EmulatedDevice, AModelsCopiesGoBesideKernels) {
  const std::shared_ptr<Device> device = open_device("emulated:h100,copy=1KB/s,memory=1KB/s,launch=0");
  const std::vector<std::uint8_t> from(10'000);
  std::vector<std::uint8_t> to(10'000);
  DeviceTask task = copy_of(to, from);  // 10 s
  task.launches = {launch_of(30'000)};  // 30 s
  const std::shared_ptr<DeviceEvent> first = device->submit(task, {});
  const std::shared_ptr<DeviceEvent> second = device->submit(task, {});
  const std::shared_ptr<DeviceEvent> third = device->submit(task, {});
  EXPECT_EQ(second->done_ns() - first->done_ns(), 30'000 * kMs);
  EXPECT_EQ(third->done_ns() - second->done_ns(), 30'000 * kMs);
  EXPECT_FALSE(third->wait_for(0));
}

}  // namespace
}  // namespace stoker
