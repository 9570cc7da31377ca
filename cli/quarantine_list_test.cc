#include "cli/quarantine_list.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<BadSample> kBad = {{"a.tar", "x", 512, "no picture"}, {"b.tar", "", 0, "it is cut off"}};
const std::string kLines =
    "{\"shard\":\"a.tar\",\"key\":\"x\",\"offset\":512,\"reason\":\"no picture\"}\n"
    "{\"shard\":\"b.tar\",\"key\":\"\",\"offset\":0,\"reason\":\"it is cut off\"}\n";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator(file), {}};
}

class QuarantineLists : public ::testing::Test {
 protected:
  void write(const std::string& path) { QuarantineList(path).write(kBad); }
  Error refusal(const std::string& path, const std::string& not_in = {}) {
    const Error error = error_of([&] { QuarantineList(path, not_in); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(path));
    return error;
  }
  /// The names of the folder's entries.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename().string());
    return names;
  }

  TempFolder folder_;
};

TEST_F(QuarantineLists, ReplaceOlderOnesAndEmptyFiles) {
  const std::string path = folder_.path("list");
  write(path);
  EXPECT_EQ(read_file(path), kLines);
  QuarantineList(path).write({});
  EXPECT_EQ(read_file(path), "");
  write(path);
  EXPECT_EQ(read_file(path), kLines);
  EXPECT_THAT(names(), ::testing::ElementsAre("list"));
}

TEST_F(QuarantineLists, LeaveNothingAndChangeNothingWhenTheWorkFails) {
  const std::string path = folder_.path("list");
  { const QuarantineList list(path); }
  EXPECT_THAT(names(), ::testing::IsEmpty());
  write(path);
  { const QuarantineList list(path); }
  EXPECT_EQ(read_file(path), kLines);
  EXPECT_THAT(names(), ::testing::ElementsAre("list"));
}

TEST_F(QuarantineLists, ReplaceNoFileOfAnotherKind) {
  for (const std::string& content :
       {"x.jpg" + std::string(2048, '\0'), std::string("{}\n"), std::string("[1]\n"), std::string("text"),
        std::string("{\"shard\":\"a\"}\n"), kLines.substr(0, 20), "\n" + kLines, std::string(3 << 20, '[')}) {
    const std::string path = folder_.write("file", content);
    EXPECT_THAT(refusal(path).what(), HasSubstr("not a list of bad samples"));
    EXPECT_EQ(read_file(path), content);
    EXPECT_THAT(names(), ::testing::ElementsAre("file"));
  }
  EXPECT_THAT(refusal(folder_.path()).what(), HasSubstr("folder"));
}

TEST_F(QuarantineLists, AreWrittenThroughPipes) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const FileDescriptor reader = open_for_reading(AT_FDCWD, path.c_str());
  write(path);
  std::string read(1000, '\0');
  read.resize(static_cast<std::size_t>(::read(reader.get(), read.data(), read.size())));
  EXPECT_EQ(read, kLines);
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_THAT(names(), ::testing::ElementsAre("pipe"));
}

TEST_F(QuarantineLists, GoWhereSymbolicLinksLead) {
  folder_.write("there/old", "");
  fs::create_symlink("there/old", folder_.path("to-old"));
  fs::create_symlink("there/new", folder_.path("to-new"));
  fs::create_symlink(folder_.path("to-new"), folder_.path("to-link"));
  for (const char* name : {"to-old", "to-link"}) {
    const std::string path = folder_.path(name);
    write(path);
    EXPECT_TRUE(fs::is_symlink(path)) << name;
    EXPECT_EQ(read_file(path), kLines) << name;
  }
  EXPECT_EQ(read_file(folder_.path("there/new")), kLines);
  fs::create_symlink("round", folder_.path("round"));
  EXPECT_THAT(error_of([&] { QuarantineList(folder_.path("round")); }).what(), HasSubstr("round"));
}

TEST_F(QuarantineLists, LieOutsideOfThePack) {
  const std::string out = folder_.path("out");
  for (const char* name : {"out", "out/list", "out/sub/list", "./out/../out/list"}) {
    EXPECT_THAT(refusal(folder_.path(name), out).what(), HasSubstr(out)) << name << ", of a folder to be made";
    refusal(folder_.path(name), out + "/");
  }
  fs::create_directory(out);
  fs::create_symlink("out/list", folder_.path("link"));
  refusal(folder_.path("link"), out);
  EXPECT_TRUE(fs::is_empty(out));
  QuarantineList(folder_.path("out-list"), out).write(kBad);
  EXPECT_EQ(read_file(folder_.path("out-list")), kLines);
}

TEST_F(QuarantineLists, AreKnownNotToBeWritableBeforeTheWork) {
  const std::string nowhere = folder_.path("nowhere/list");
  EXPECT_THAT(error_of([&] { QuarantineList list(nowhere); }).what(), HasSubstr(nowhere));
}

}  // namespace
}  // namespace stoker
