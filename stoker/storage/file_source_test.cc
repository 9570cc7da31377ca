#include "stoker/storage/file_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <latch>
#include <stop_token>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/storage/file_access_testing.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Error failure_to_open(const std::string& path) {
  return error_of([&] { FileSource(path, std::make_shared<InlineExecutor>()); });
}

TEST(FileSource, NamesAFileThatIsNotThere) {
  const Error error = failure_to_open("/no/such/shard.tar");
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("/no/such/shard.tar"), HasSubstr("No such file")));
}

TEST(FileSource, RefusesAPipeWithoutWaitingForItsWriter) {
  TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("shard.tar").c_str(), 0600), 0);
  const Error error = failure_to_open(folder.path("shard.tar"));
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("shard.tar"), HasSubstr("is a pipe"), HasSubstr("save")));
}

TEST(FileSource, RefusesFoldersDevicesAndSockets) {
  TempFolder folder;
  EXPECT_THAT(failure_to_open(folder.path()).message(), HasSubstr("is a folder"));
  EXPECT_THAT(failure_to_open("/dev/null").message(), HasSubstr("is a device"));

  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, folder.path("s").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_THAT(failure_to_open(folder.path("s")).message(), HasSubstr("is a socket"));
}

TEST(FileSource, ReportsAFileThatShrankAfterItWasOpened) {
  TempFolder folder;
  const std::string path = folder.write("shard.tar", std::string(1000, 'x'));
  FileSource source(path, std::make_shared<InlineExecutor>());
  std::filesystem::resize_file(path, 600);
  std::vector<std::uint8_t> bytes(200);
  EXPECT_NO_THROW(read_fully(source, 400, bytes));
  const Error error = error_of([&] { read_fully(source, 500, bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(path), HasSubstr("truncated"), HasSubstr("byte 600")));
}

TEST(FileSource, FindsItsFileAgainAfterTheWorkingDirectoryChanged) {
  TempFolder folder;
  folder.write("a.tar", "a");
  folder.write("b.tar", "b");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  FileAccess access(std::make_shared<InlineExecutor>());
  access.open_files = std::make_shared<OpenFiles>(1);
  FileSource a("a.tar", access), b("b.tar", access);
  std::filesystem::current_path(before);
  std::uint8_t byte[1];
  read_fully(b, 0, byte);
  read_fully(a, 0, byte);
  EXPECT_EQ(byte[0], 'a');
  EXPECT_EQ(a.name(), "a.tar");
}

TEST(FileSource, SaysSoWhereTheFileSystemCannotReadDirectly) {
  const Error error =
      error_of([] { FileSource("/proc/self/status", std::make_shared<InlineExecutor>(), {.direct = true}); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("/proc/self/status"), HasSubstr("O_DIRECT")));
}

class FileSourceWays : public ::testing::TestWithParam<FileWay> {
 protected:
  void SetUp() override {
    if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  FileOptions options() const { return {.direct = GetParam().direct, .random = true}; }
};

TEST_P(FileSourceWays, ReadsWhatIsLargerThanABuffer) {
  TempFolder folder;
  std::string content(3'500'001, ' ');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761 >> 13);
  FileSource source(folder.write("f", content), access_by(GetParam(), std::make_shared<InlineExecutor>()), options());
  std::vector<std::uint8_t> bytes(content.size() - 7);
  read_fully(source, 7, bytes);
  EXPECT_TRUE(as_text(bytes) == std::string_view(content).substr(7));
}

TEST_P(FileSourceWays, ReadsFromMoreFilesThanTheProcessMayOpen) {
  TempFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit changed = before;
  changed.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &changed), 0);
  {
    constexpr std::size_t kFiles = 300;
    const FileAccess access = access_by(GetParam(), std::make_shared<ThreadExecutor>(3));
    std::vector<std::unique_ptr<FileSource>> sources;
    for (std::size_t i = 0; i < kFiles; ++i) {
      const std::string text = std::to_string(1000 + i);
      sources.push_back(std::make_unique<FileSource>(folder.write(text, text), access, options()));
    }
    struct Read {
      ReadRequest request;
      std::uint8_t bytes[4];
      MutableBytes piece{bytes};
    };
    std::latch ended(kFiles);
    std::vector<Read> reads(kFiles);
    for (std::size_t i = 0; i < kFiles; ++i) {
      reads[i].request.into = Pieces(&reads[i].piece, 1);
      reads[i].request.context = &ended;
      reads[i].request.done = [](ReadRequest& request) noexcept {
        static_cast<std::latch*>(request.context)->count_down();
      };
      sources[i * 7 % kFiles]->start(reads[i].request);
    }
    ended.wait();
    for (std::size_t i = 0; i < kFiles; ++i) {
      EXPECT_FALSE(reads[i].request.error);
      EXPECT_EQ(as_text(reads[i].piece), std::to_string(1000 + i * 7 % kFiles));
    }
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_P(FileSourceWays, GivesUpAReadThatWasStoppedWhileItWaited) {
  TempFolder folder;
  FileAccess access = access_by(GetParam(), std::make_shared<InlineExecutor>());
  access.open_files = std::make_shared<OpenFiles>(1);
  FileSource source(folder.write("f", "content"), access, options());
  const std::string other = folder.write("g", "1");
  OpenFiles::File file(other, other, {});
  OpenFiles::Lease lease;
  ASSERT_TRUE(access.open_files->acquire(file, lease)) << "the only descriptor";
  std::array<std::uint8_t, 7> bytes{};
  const MutableBytes piece(bytes);
  std::stop_source stop;
  std::latch ended(1);
  ReadRequest request;
  request.into = Pieces(&piece, 1);
  request.stop = stop.get_token();
  request.context = &ended;
  request.done = [](ReadRequest& one) noexcept { static_cast<std::latch*>(one.context)->count_down(); };
  source.start(request);
  EXPECT_FALSE(ended.try_wait());
  stop.request_stop();
  access.open_files->release(lease);
  ended.wait();
  ASSERT_TRUE(request.error);
  EXPECT_EQ(error_of([&] { std::rethrow_exception(request.error); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(bytes.front(), 0) << "nothing was read";
  read_fully(source, 0, bytes);
  EXPECT_EQ(as_text(bytes), "content");
  access.open_files->forget(file);
}

TEST_P(FileSourceWays, ReadsInAForkedChildWhateverTheParentIsInTheMiddleOf) {
  TempFolder folder;
  std::string content(300'000, ' ');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i % 251);
  const std::string path = folder.write("f", content);
  FileAccess access = access_by(GetParam(), std::make_shared<ThreadExecutor>(2));
  access.open_files = std::make_shared<OpenFiles>(1);
  access.bounce_pool = std::make_shared<BouncePool>(1);
  auto source = std::make_unique<FileSource>(path, access, options());
  OpenFiles::Lease lease;  // all descriptors and buffers are in use
  BouncePool::Loan loan;
  const std::string other = folder.write("g", "1");
  OpenFiles::File file(other, other, {});
  ASSERT_TRUE(access.open_files->acquire(file, lease));
  ASSERT_TRUE(access.bounce_pool->acquire(loan));
  EXPECT_EQ(status_in_child([&] {
              std::vector<std::uint8_t> bytes(200'000);
              source->will_need(0, 1000);
              read_fully(*source, 33, bytes);
              if (as_text(bytes) != std::string_view(content).substr(33, bytes.size())) return 1;
              std::filesystem::resize_file(path, 1000);
              if (error_of([&] { read_fully(*source, 0, bytes); }).kind() != ErrorKind::kData) return 2;
              source.reset();
              return 0;
            }),
            0);
  access.bounce_pool->release(loan);
  access.open_files->release(lease);
  access.open_files->forget(file);
}

INSTANTIATE_TEST_SUITE_P(All, FileSourceWays, ::testing::ValuesIn(kFileWays),
                         [](const auto& instance) { return instance.param.name; });

TEST(FolderSource, NamesAFolderThatIsNotThere) {
  const auto open = [](const std::string& path) { FolderSource(path, std::make_shared<InlineExecutor>()); };
  EXPECT_EQ(error_of([&] { open("/no/such/folder"); }).kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error_of([&] { open("/dev/null"); }).message(), HasSubstr("/dev/null"));
}

TEST(FolderSource, NamesTheFileThatWasTruncatedSinceItWasListed) {
  TempFolder folder;
  folder.write("a/x.jpg", "12345");
  FolderSource source(folder.path(), std::make_shared<InlineExecutor>());
  std::vector<std::uint8_t> bytes(6);
  const Error error = error_of([&] { read_fully(source, 0, bytes, "a/x.jpg"); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("a/x.jpg")), HasSubstr("since it was listed")));
}

TEST(FolderSource, ReadsNothingOutsideTheFolder) {
  TempFolder folder;
  folder.write("secret.jpg", "secret");
  folder.write("root/..x/a.jpg", "inside");
  FolderSource source(folder.path("root"), std::make_shared<InlineExecutor>());
  std::vector<std::uint8_t> bytes(6);
  EXPECT_NO_THROW(read_fully(source, 0, bytes, "..x/a.jpg"));
  for (const std::string& part :
       {std::string("../secret.jpg"), std::string("..x/../../secret.jpg"), std::string(".."), std::string("..x/.."),
        folder.path("secret.jpg"), std::string("..x/a.jpg\0b", 11), std::string(5000, 'x'), std::string()}) {
    EXPECT_THROW(read_fully(source, 0, bytes, part), Error) << part;
  }
}

TEST(FolderSource, RefusesPartsThatAreNotFiles) {
  TempFolder folder;
  std::filesystem::create_directories(folder.path("x.jpg"));
  ASSERT_EQ(::mkfifo(folder.path("pipe.jpg").c_str(), 0600), 0);
  FolderSource source(folder.path(), std::make_shared<InlineExecutor>());
  std::vector<std::uint8_t> bytes(1);
  EXPECT_THAT(error_of([&] { read_fully(source, 0, bytes, "x.jpg"); }).message(), HasSubstr("is a folder"));
  EXPECT_THAT(error_of([&] { read_fully(source, 0, bytes, "pipe.jpg"); }).message(), HasSubstr("is a pipe"));
}

}  // namespace
}  // namespace stoker
