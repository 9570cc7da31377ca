#include "stoker/doctor/verdict/catalogue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "stoker/base/error.h"
#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <typename Action>
std::string sentence_of(Action action, ErrorKind kind = ErrorKind::kUsage) {
  const Error error = error_of(action);
  EXPECT_EQ(error.kind(), kind);
  return error.message();
}

std::string extended_by(std::string_view toml) {
  return sentence_of([&] {
    Catalogue catalogue = Catalogue::shipped();
    catalogue.extend(toml);
  });
}

TEST(Catalogue, ShipsTypicalFigures) {
  const Catalogue& catalogue = Catalogue::shipped();
  EXPECT_NEAR(catalogue.disk("sata-ssd").bytes_per_s, 0.55e9, 1);
  EXPECT_NEAR(catalogue.disk("nvme").bytes_per_s, 6e9, 1);
  EXPECT_NEAR(catalogue.disk("hdd").latency_s, 8e-3, 1e-9);
  EXPECT_TRUE(catalogue.disk("nfs").shared);
  EXPECT_NEAR(catalogue.network("25g").bytes_per_s, 25e9 / 8, 1);
  EXPECT_NEAR(*catalogue.network("object-store").first_byte_s, 0.03, 1e-9);
  EXPECT_GT(catalogue.gpu("h100").speed_against, catalogue.gpu("a100").speed_against);
  EXPECT_EQ(catalogue.gpu("h100").memory_bytes, 80ull << 30);
  for (const char* disk : {"hdd", "sata-ssd", "nvme", "network-disk", "nfs", "memory"}) catalogue.disk(disk);
  for (const char* network : {"1g", "10g", "25g", "100g"}) catalogue.network(network);
}

TEST(Catalogue, ListsGoFromSlowToFast) {
  const Catalogue& catalogue = Catalogue::shipped();
  EXPECT_TRUE(std::is_sorted(catalogue.disks.begin(), catalogue.disks.end(),
                             [](const auto& a, const auto& b) { return a.bytes_per_s < b.bytes_per_s; }));
  EXPECT_TRUE(std::is_sorted(catalogue.gpus.begin(), catalogue.gpus.end(),
                             [](const auto& a, const auto& b) { return a.speed_against < b.speed_against; }));
}

TEST(Catalogue, MachinesAreMadeOfItsParts) {
  const Catalogue& catalogue = Catalogue::shipped();
  ASSERT_FALSE(catalogue.machines.empty());
  for (const CloudMachine& machine : catalogue.machines) {
    EXPECT_NO_THROW(catalogue.gpu(machine.gpu)) << machine.name;
    EXPECT_NO_THROW(catalogue.network(machine.network)) << machine.name;
    EXPECT_NO_THROW(catalogue.disk(machine.disk)) << machine.name;
    EXPECT_FALSE(machine.price_per_hour) << machine.name;  // they are of a day and a contract
  }
}

TEST(Catalogue, UsersAddAndCorrect) {
  Catalogue catalogue = Catalogue::shipped();
  const std::size_t machines = catalogue.machines.size();
  catalogue.extend(R"(
[disk.nvme]
gb_per_s = 3.5
[disk.ours]
gb_per_s = 2
reads_per_s = 100_000
latency_ms = 0.2
[machine."aws p5.48xlarge"]
price_per_hour = 55.5
[machine.desk]
vcpus = 16
memory_gb = 64
gpu = "rtx4090"
gpus = 2
network = "1g"
disk = "ours"
price_per_hour = 0.5
)");
  EXPECT_NEAR(catalogue.disk("nvme").bytes_per_s, 3.5e9, 1);
  EXPECT_NEAR(catalogue.disk("nvme").reads_per_s, 600e3, 1);  // as it was
  EXPECT_NEAR(catalogue.disk("ours").latency_s, 0.2e-3, 1e-12);
  EXPECT_EQ(*catalogue.machine("aws p5.48xlarge").price_per_hour, 55.5);
  EXPECT_EQ(catalogue.machine("aws p5.48xlarge").vcpus, 192);
  EXPECT_EQ(catalogue.machines.size(), machines + 1);
  EXPECT_EQ(catalogue.machine("desk").gpus, 2);
  EXPECT_EQ(catalogue.machine("desk").disk, "ours");
}

TEST(Catalogue, NamesCanStandInAWhatIf) {
  constexpr const char* kFigures = "gb_per_s = 1\nreads_per_s = 1\nlatency_ms = 1\n";
  EXPECT_THAT(extended_by(fmt::format("[disk.\"my disk\"]\n{}", kFigures)),
              AllOf(HasSubstr("line 1"), HasSubstr("'my disk'"), HasSubstr("call it 'my-disk'")));
  EXPECT_THAT(extended_by("[network.\"a,b\"]\ngbit_per_s = 1\n"), HasSubstr("call it 'a-b'"));
  EXPECT_THAT(extended_by("[gpu.\"RTX 9\"]\nspeed = 1\nmemory_gb = 8\n"), HasSubstr("call it 'RTX-9'"));
  EXPECT_THAT(extended_by(fmt::format("[disk.\"\"]\n{}", kFigures)), HasSubstr("needs a name"));
}

TEST(Catalogue, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(extended_by("[disc.a]\n"), AllOf(HasSubstr("line 1"), HasSubstr("'disc'"), HasSubstr("'disk'")));
  EXPECT_THAT(extended_by("[disk.a]\ngb_per_s = 1\nlatency = 2\n"), AllOf(HasSubstr("disk.a has no reads_per_s")));
  EXPECT_THAT(extended_by("[disk.nvme]\nlatency = 2\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("'latency'"), HasSubstr("latency_ms")));
  EXPECT_THAT(extended_by("[disk.nvme]\ngb_per_s = -1\n"), AllOf(HasSubstr("line 2"), HasSubstr("above 0")));
  EXPECT_THAT(extended_by("[disk.nvme]\ngb_per_s = \"6\"\n"), HasSubstr("must be a number"));
  EXPECT_THAT(extended_by("[disk.nvme]\ngb_per_s = nan\n"), HasSubstr("must be a number"));
  EXPECT_THAT(extended_by("[disk.nvme]\nshared = 1\n"), HasSubstr("true or false"));
  EXPECT_THAT(extended_by("disk = 3\n"), HasSubstr("[disk.NAME]"));
  EXPECT_THAT(extended_by("[disk]\ngb_per_s = 3\n"), HasSubstr("[disk.NAME]"));
  EXPECT_THAT(extended_by("[gpu.x]\nmemory_gb = 3\n"), HasSubstr("gpu.x has no speed"));
  EXPECT_THAT(extended_by("[machine.\"aws g5.xlarge\"]\ngpu = \"h10\"\n"),
              AllOf(HasSubstr("h100"), HasSubstr("line 2")));
  EXPECT_THAT(extended_by("[machine.\"aws g5.xlarge\"]\ngpus = 1.5\n"), HasSubstr("whole number"));
  EXPECT_THAT(extended_by("[disk.a\n"), HasSubstr("line 1"));
}

TEST(Catalogue, StaysAsItWasIfAFileIsWrong) {
  Catalogue catalogue = Catalogue::shipped();
  EXPECT_THROW(catalogue.extend("[disk.nvme]\ngb_per_s = 1\n[disk.b]\n"), Error);
  EXPECT_NEAR(catalogue.disk("nvme").bytes_per_s, 6e9, 1);
}

TEST(Catalogue, ErrorsOfAFileNameIt) {
  Catalogue catalogue;
  EXPECT_THAT(sentence_of([&] { catalogue.extend_by_file("no-such-folder/mine.toml"); }, ErrorKind::kNotFound),
              HasSubstr("mine.toml"));
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "catalogue_test.toml";
  std::ofstream(path) << "[disk.a]\ngb_per_s = 0\n";
  EXPECT_THAT(sentence_of([&] { catalogue.extend_by_file(path.string()); }),
              AllOf(HasSubstr("catalogue_test.toml"), HasSubstr("line 2")));
  std::filesystem::remove(path);
}

TEST(Catalogue, SuggestsNames) {
  const Catalogue& catalogue = Catalogue::shipped();
  EXPECT_THAT(sentence_of([&] { catalogue.disk("nvmee"); }), HasSubstr("did you mean 'nvme'?"));
  EXPECT_THAT(sentence_of([&] { catalogue.gpu("h101"); }), HasSubstr("h100"));
}

TEST(Catalogue, FindsTheGpuThatADriverNames) {
  const Catalogue& catalogue = Catalogue::shipped();
  const auto name_in = [&](std::string_view text) {
    const GpuClass* gpu = catalogue.gpu_within(text);
    return gpu ? gpu->name : "none";
  };
  EXPECT_EQ(name_in("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(name_in("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(name_in("NVIDIA GeForce RTX 4090"), "rtx4090");
  EXPECT_EQ(name_in("mlperf:resnet50/v100"), "v100");
  EXPECT_EQ(name_in("Tesla T4"), "t4");
  EXPECT_EQ(name_in("NVIDIA RTX A1000"), "none");
  EXPECT_EQ(name_in(""), "none");
}

}  // namespace
}  // namespace stoker
