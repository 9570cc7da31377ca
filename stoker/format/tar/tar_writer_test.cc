#include "stoker/format/tar/tar_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <optional>

#include "stoker/base/error_testing.h"
#include "stoker/format/tar/tar_format.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

void write_samples(const std::string& path, const std::vector<std::string>& names) {
  TarWriter writer(path);
  for (const std::string& name : names) writer.add(name, as_bytes("content of " + name));
  writer.finish();
}

TEST(TarWriter, WritesWhatTheScanReads) {
  TempFolder folder;
  const std::vector<std::string> names = {"a.jpg",
                                          "n01/b.x.png",
                                          std::string(90, 'd') + "/" + std::string(99, 'e') + ".jpg",
                                          std::string(300, 'l') + ".jpg",
                                          "été.jpg",
                                          "\xe9t\xe9.jpg"};
  write_samples(folder.path("a.tar"), names);
  FileSource source(folder.path("a.tar"), std::make_shared<InlineExecutor>());
  const SampleTable samples = scan_tar(source);
  ASSERT_EQ(samples.size(), static_cast<std::int64_t>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const FieldLocation field = samples.fields(static_cast<std::int64_t>(i))[0];
    EXPECT_EQ(std::string(samples.key(static_cast<std::int64_t>(i))) + "." + samples.field_names()[field.name],
              names[i]);
    std::vector<std::uint8_t> content(field.length);
    read_fully(source, field.offset, content);
    EXPECT_EQ(as_text(content), "content of " + names[i]);
  }
}

TEST(TarWriter, TellsWhereEachContentBeginsAndTheHashOfAllBefore) {
  TempFolder folder;
  TarWriter writer(folder.path("a.tar"));
  const std::vector<std::string> contents = {"one", std::string(3000, '2'), "", std::string(512, '4'),
                                             std::string(9000, '5')};
  std::vector<std::uint64_t> offsets, ends, hashes;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    offsets.push_back(writer.add(std::string(80 * i + 1, 'n') + ".txt", as_bytes(contents[i])));
    ends.push_back(writer.bytes());
    hashes.push_back(writer.hash());
  }
  writer.finish();
  const std::string bytes = read_file(folder.path("a.tar"));
  for (std::size_t i = 0; i < contents.size(); ++i) {
    EXPECT_EQ(bytes.substr(offsets[i], contents[i].size()), contents[i]);
    EXPECT_EQ(ends[i], (offsets[i] + contents[i].size() + 511) / 512 * 512);
    EXPECT_EQ(hashes[i], hash64(std::string_view(bytes).substr(0, ends[i])));
  }
}

TEST(TarWriter, WritesTheSameBytesEachTime) {
  TempFolder folder;
  const std::vector<std::string> names = {"a.jpg", std::string(300, 'l') + ".jpg", "é.jpg"};
  write_samples(folder.path("1.tar"), names);
  write_samples(folder.path("2.tar"), names);
  const std::string bytes = read_file(folder.path("1.tar"));
  EXPECT_EQ(bytes, read_file(folder.path("2.tar")));
  EXPECT_EQ(bytes.size() % 512, 0u);
  EXPECT_EQ(bytes.substr(bytes.size() - 1024), tar_end());
  EXPECT_EQ(bytes.find("hdrcharset"), std::string::npos);  // which says that a name could not be written as UTF-8
  // A plain member's header is exactly that of a tar without times, owners and permissions.
  EXPECT_EQ(bytes.substr(100, 8), std::string("000644 \0", 8));
  EXPECT_EQ(bytes.substr(136, 12), "00000000000 ");
  EXPECT_EQ(bytes.substr(265, 64), std::string(64, '\0'));
}

TEST(TarWriter, MakesAnEmptyTarOfNoMembers) {
  TempFolder folder;
  write_samples(folder.path("a.tar"), {});
  EXPECT_EQ(read_file(folder.path("a.tar")), tar_end());
}

TEST(TarWriter, LeavesNothingBehindWhenItIsNotFinished) {
  TempFolder folder;
  std::optional<TarWriter> writer(folder.path("a.tar"));
  writer->add("a.jpg", as_bytes("a"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("a.tar")));
  writer.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TarWriter, KeepsTheOldFileUntilTheNewOneIsFinished) {
  TempFolder folder;
  folder.write("a.tar", "old");
  {
    TarWriter writer(folder.path("a.tar"));
    writer.add("a.jpg", as_bytes("a"));
  }
  EXPECT_EQ(read_file(folder.path("a.tar")), "old");
  write_samples(folder.path("a.tar"), {"a.jpg"});
  EXPECT_EQ(read_file(folder.path("a.tar")).substr(0, 5), "a.jpg");
}

TEST(TarWriter, NamesAPathThatCannotBeCreated) {
  EXPECT_THAT(error_of([] { TarWriter("/no/such/folder/a.tar"); }).message(), HasSubstr("/no/such/folder/a.tar"));
}

/// While it lives, files end at their byte 4096.
class SmallFiles {
 public:
  SmallFiles() {
    rlimit small = before_;
    small.rlim_cur = 4096;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = [] {
    rlimit limit{};
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    return limit;
  }();
  const sighandler_t handler_ = ::signal(SIGXFSZ, SIG_IGN);
};

TEST(TarWriter, NamesThePathWhenTheFileCannotGrow) {
  TempFolder folder;
  const Error error = error_of([&] {
    const SmallFiles small;
    TarWriter writer(folder.path("a.tar"));
    const std::vector<std::uint8_t> content(3 << 20);
    writer.add("a.jpg", content);
    writer.finish();
  });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.message(), HasSubstr(folder.path("a.tar")));
  EXPECT_THAT(error.message(), HasSubstr("File too large"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TarWriter, NoticesAtOnceThatEvenPaddingCannotBeWritten) {
  TempFolder folder;
  const SmallFiles small;
  TarWriter writer(folder.path("a.tar"));
  // A mebibyte is written at once, and the padding of the last member is its end.
  const std::vector<std::uint8_t> content((64 << 10) - 512 - 100);
  for (int i = 0; i < 15; ++i) writer.add("a.jpg", content);
  EXPECT_EQ(error_of([&] { writer.add("a.jpg", content); }).kind(), ErrorKind::kIo);
}

}  // namespace
}  // namespace stoker
