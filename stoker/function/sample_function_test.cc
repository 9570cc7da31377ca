#include "stoker/function/sample_function.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace stoker {
namespace {

namespace fs = std::filesystem;

/// The working folder, for as long as a test: a new one with a file and a folder.
class WorkingFolder {
 public:
  WorkingFolder() {
    std::string pattern = (fs::temp_directory_path() / "stoker-test-XXXXXX").string();
    fs::current_path(::mkdtemp(pattern.data()));
    here_ = fs::current_path();
    std::ofstream("libmine.so") << "content";
    fs::create_directory("libfolder.so");
  }
  ~WorkingFolder() {
    fs::current_path(before_);
    fs::remove_all(here_);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

  std::string path(const std::string& name) const { return (here_ / name).string(); }

 private:
  const fs::path before_ = fs::current_path();
  fs::path here_;
};

TEST(SampleFunction, FindsALibraryInTheWorkingFolderAndLeavesOthersToTheSystem) {
  const WorkingFolder folder;
  const std::string placed = folder.path("libmine.so:brighter");
  EXPECT_EQ(placed_library("libmine.so:brighter"), placed);
  EXPECT_EQ(placed_library(placed), placed);
  EXPECT_EQ(placed_library("./libmine.so:brighter"), folder.path("./libmine.so:brighter"));
  for (const char* const other : {"libm.so.6:cos", "none/libmine.so:f", "libfolder.so:f", "libmine.so", ":f", ""}) {
    EXPECT_EQ(placed_library(other), other);
  }
}

}  // namespace
}  // namespace stoker
