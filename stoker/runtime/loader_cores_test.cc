// Loaders whose device is on the PCI bus: their threads keep to the cores near it, where that means anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "stoker/base/log.h"
#include "stoker/base/machine.h"
#include "stoker/base/topology.h"
#include "stoker/base/topology_testing.h"
#include "stoker/device/forwarding_device_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

// The emulated one, but on the bus.
class DeviceOnTheBus final : public ForwardingDevice {
 public:
  explicit DeviceOnTheBus(std::string bus_id) : bus_id_(std::move(bus_id)) {}

  std::string bus_id() const override { return bus_id_; }

 private:
  const std::string bus_id_;
};

// Cores that each of the library's threads may run on. They have their names once they have their cores.
std::multimap<std::string, std::vector<int>> cores_of_threads() {
  std::multimap<std::string, std::vector<int>> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    cpu_set_t mask;
    const pid_t thread = std::stoi(task.path().filename());
    if (!name.starts_with("stoker-") || sched_getaffinity(thread, sizeof(mask), &mask) != 0) continue;
    std::vector<int>& cores = all.emplace(name, std::vector<int>())->second;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &mask)) cores.push_back(core);
    }
  }
  return all;
}

struct SeenRun {
  std::multimap<std::string, std::vector<int>> cores;
  int threads = 0;
  std::vector<std::string> audit, log;
};

SeenRun run_on_the_bus(const std::string& bus_id, LoaderOptions options) {
  const MemoryDataset data = memory_dataset();
  options.batch = 7;
  options.device = std::make_shared<DeviceOnTheBus>(bus_id);
  options.tune = TuneMode::kOff;  // else it may begin with threads that an earlier loader settled on
  SeenRun run;
  std::mutex mutex;
  set_log_sink(
      [&](LogLevel, std::string_view line) {
        const std::lock_guard lock(mutex);
        run.log.emplace_back(line);
      },
      LogLevel::kDebug);
  {
    Loader loader(data.dataset, small_recipe(), options);
    run.threads = loader.threads();
    run.audit = audit_of(loader, 1);
    run.cores = cores_of_threads();
  }
  set_log_sink(nullptr);
  return run;
}

void expect_all_on(const SeenRun& run, const std::vector<int>& cores) {
  EXPECT_EQ(run.cores.count("stoker-reader"), 1U);
  EXPECT_GE(run.cores.size(), 2U) << "a worker, too";
  for (const auto& [thread, of_thread] : run.cores) EXPECT_EQ(of_thread, cores) << thread;
}

TEST(LoaderCores, AreThoseThatItHadWhereTheDeviceIsNotKnown) {
  const std::vector<int> before = allowed_cores();
  const MemoryDataset data = memory_dataset();
  Loader plain(data.dataset, small_recipe(), {.batch = 7});
  const std::vector<std::string> want = audit_of(plain, 1);
  plain.close();
  for (const char* bus_id : {"ffff:ff:1f.7", "nonsense"}) {
    const SeenRun run = run_on_the_bus(bus_id, {});
    expect_all_on(run, before);
    EXPECT_EQ(run.threads, usable_cores());
    EXPECT_EQ(run.audit, want);
    EXPECT_THAT(run.log, Contains(HasSubstr("cannot find out")));
  }
  EXPECT_EQ(allowed_cores(), before);
}

TEST(LoaderCores, AreNotLookedForWhereThereIsNoBusOrNobodyWantsIt) {
  for (const bool pinned : {true, false}) {
    const SeenRun run = run_on_the_bus(pinned ? "" : "ffff:ff:1f.7", {.pin_threads = pinned});
    expect_all_on(run, allowed_cores());
    EXPECT_THAT(run.log, Each(Not(HasSubstr("threads run on"))));
  }
}

// In a process that takes itself to be on a machine of two sockets, each with one core.
void run_on_two_sockets() {
  const std::vector<int> before = allowed_cores();
  const TempFolder folder;
  const std::string machine = folder.write(
      "machine.xml",
      std::string_view(machine_xml({{{before[0]}, "0000:3b:00.0"}, {{before[1]}, "0000:af:00.0"}}, "0000:d8:00.0")));
  setenv("HWLOC_XMLFILE", machine.c_str(), 1);
  for (const std::size_t socket : {0U, 1U}) {
    const SeenRun run = run_on_the_bus(socket == 0 ? "0000:3b:00.0" : "0000:af:00.0", {});
    expect_all_on(run, {before[socket]});
    EXPECT_EQ(run.threads, 1);
    EXPECT_EQ(allowed_cores(), before) << "of the consumer";
  }
  expect_all_on(run_on_the_bus("0000:3b:00.0", {.pin_threads = false}), before);
  EXPECT_EQ(run_on_the_bus("0000:3b:00.0", {.threads = 3}).threads, 3) << "as was asked for";
}

TEST(LoaderCoresDeathTest, AreThoseOfTheDevicesOwnSocket) {
  if (allowed_cores().size() < 2) GTEST_SKIP() << "with one core there is nothing to choose";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which has not looked at its machine
  const auto child = [] {
    run_on_two_sockets();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stoker
