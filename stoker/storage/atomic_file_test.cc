#include "stoker/storage/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <optional>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AtomicFile, IsThereWholeOrNotAtAll) {
  TempFolder folder;
  const std::string path = folder.write("file", "old");
  const std::string large(3'000'000, 'x');
  {
    AtomicFile file(path);
    file.write(as_bytes(large));
    EXPECT_EQ(content_of(path), "old");
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  AtomicFile file(path);
  for (const char c : {'a', 'b'}) file.write(as_bytes(std::string(700'000, c)));
  file.commit();
  EXPECT_EQ(content_of(path), std::string(700'000, 'a') + std::string(700'000, 'b'));
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(AtomicFile, HoldsItsBytesInTheOrderOfWriting) {
  TempFolder folder;
  std::string expected;
  AtomicFile file(folder.path("file"));
  // Small pieces are collected, large ones are not: the last of each kind must not overtake the other.
  for (const std::size_t size : {10, 200'000, 60'000, 1, 65'536, 65'537, 2'000'000, 3}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    file.write(as_bytes(piece));
    expected += piece;
  }
  file.commit();
  EXPECT_EQ(content_of(folder.path("file")), expected);
}

TEST(AtomicFile, ReplacesWhatAKilledProcessLeft) {
  TempFolder folder;
  folder.write("file.partial", std::string(5000, 'x'));
  write_whole_file(folder.path("file"), as_bytes("new"));
  EXPECT_EQ(content_of(folder.path("file")), "new");
}

TEST(AtomicFile, IsWrittenByOneProcessAtATime) {
  TempFolder folder;
  std::optional<AtomicFile> first(folder.path("file"));
  first->write(as_bytes("first"));
  const Error error = error_of([&] { AtomicFile(folder.path("file")); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("another process"));
  first->commit();
  EXPECT_EQ(content_of(folder.path("file")), "first");
  write_whole_file(folder.path("file"), as_bytes("second"));
  EXPECT_EQ(content_of(folder.path("file")), "second");
}

TEST(AtomicFile, WritesToAPipeAsItIs) {
  const TempFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const FileDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  write_whole_file(path, as_bytes(std::string_view("some text")));
  { AtomicFile(path).write(as_bytes(std::string_view("not committed"))); }
  std::string read(100, '\0');
  read.resize(static_cast<std::size_t>(::read(reader.get(), read.data(), read.size())));
  EXPECT_EQ(read, "some text");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, GoesWhereALinkLeads) {
  const TempFolder folder;
  folder.write("there/old", "old");
  std::filesystem::create_symlink("there/old", folder.path("to-old"));
  std::filesystem::create_symlink("there/new", folder.path("to-new"));
  std::filesystem::create_symlink(folder.path("to-new"), folder.path("to-link"));
  for (const char* name : {"to-old", "to-link"}) {
    write_whole_file(folder.path(name), as_bytes(std::string_view("new")));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path(name)));
  }
  EXPECT_EQ(content_of(folder.path("there/old")), "new");
  EXPECT_EQ(content_of(folder.path("there/new")), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path("there")), {}), 2);
}

TEST(AtomicFile, IsNoFolderAndNoCircleOfLinks) {
  const TempFolder folder;
  const Error error = error_of([&] { AtomicFile(folder.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("Is a directory"));
  std::filesystem::create_symlink("round", folder.path("round"));
  EXPECT_THAT(error_of([&] { AtomicFile(folder.path("round")); }).what(), HasSubstr("round"));
}

TEST(AtomicFile, LeavesNothingOfAProcessThatEndsAtOnce) {
  const TempFolder folder;
  AtomicFile done(folder.path("done")), given_up(folder.path("given up"));
  done.commit();
  folder.write("done.partial", "of another process");
  remove_unfinished_files();
  EXPECT_FALSE(std::filesystem::exists(folder.path("given up.partial")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("done.partial")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("done")));
}

TEST(AtomicFile, NamesAPlaceThatCannotBeWritten) {
  EXPECT_EQ(error_of([] { AtomicFile("/no/such/folder/file"); }).kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace stoker
