#include "stoker/pack/synth/synth_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

/// Files and folders that go away with their owner, last created first, unless they are kept.
class CreatedPaths {
 public:
  CreatedPaths() = default;
  ~CreatedPaths() {
    std::error_code ignored;
    std::reverse(paths_.begin(), paths_.end());
    for (const std::string& path : paths_) fs::remove_all(path, ignored);
  }
  CreatedPaths(const CreatedPaths&) = delete;
  CreatedPaths& operator=(const CreatedPaths&) = delete;

  void add(const std::string& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

void create_folder(const fs::path& path, CreatedPaths& created) {
  std::error_code error;
  if (path.has_parent_path() && !fs::exists(path.parent_path(), error)) create_folder(path.parent_path(), created);
  if (fs::create_directory(path, error)) created.add(path.string());
  if (error) fail_system("create", path.string(), error.value());
}

void claim_empty_folder(const std::string& out, CreatedPaths& created) {
  std::error_code error;
  const fs::file_status status = fs::status(out, error);
  if (!fs::exists(status)) {
    create_folder(out, created);
    return;
  }
  if (!fs::is_directory(status)) fail(ErrorKind::kUsage, "'{}' exists and is not a folder; choose another name", out);
  const bool empty = fs::is_empty(out, error);
  if (error) fail_system("read folder", out, error.value());
  if (!empty) fail(ErrorKind::kUsage, "folder '{}' is not empty; choose another name, or remove its contents", out);
}

void write_file(const std::string& path, Bytes content) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) fail_system("create", path, errno);
  write_fully(file, content, path);
  if (::close(file.release()) != 0) fail_system("write", path, errno);
}

class FolderOutput final : public SynthOutput {
 public:
  explicit FolderOutput(const std::string& out) : out_(out) { claim_empty_folder(out, created_); }

  void add(const SynthSample& sample) override {
    const std::string folder = out_ + "/" + sample.class_name;
    if (sample.class_name != class_name_) {
      create_folder(folder, created_);
      class_name_ = sample.class_name;
    }
    write_file(folder + "/" + sample.name + "." + sample.extension, sample.image);
  }
  void finish() override { created_.keep(); }

 private:
  const std::string out_;
  std::string class_name_;  // whose folder was created last
  CreatedPaths created_;
};

class TarOutput final : public SynthOutput {
 public:
  TarOutput(const std::string& out, std::int64_t samples_per_shard) : out_(out), samples_per_shard_(samples_per_shard) {
    if (!single()) {
      claim_empty_folder(out, created_);
      return;
    }
    std::error_code error;
    if (fs::exists(fs::symlink_status(out, error))) {
      fail(ErrorKind::kUsage, "'{}' exists already; choose another name, or remove it", out);
    }
    open_shard(out);  // so that a name which cannot be written is known before any image is made
  }

  void add(const SynthSample& sample) override {
    if (!writer_ || (!single() && in_shard_ == samples_per_shard_)) {
      finish_shard();
      open_shard(fmt::format("{}/shard-{:06}.tar", out_, shard_++));
    }
    const std::string key = sample.class_name + "/" + sample.name;
    writer_->add(key + ".cls", as_bytes(std::to_string(sample.label)));
    writer_->add(key + "." + sample.extension, sample.image);
    ++in_shard_;
  }
  void finish() override {
    finish_shard();
    created_.keep();
  }

 private:
  bool single() const { return out_.ends_with(".tar"); }

  void open_shard(const std::string& path) {
    path_ = path;
    in_shard_ = 0;
    writer_.emplace(path);
  }
  void finish_shard() {
    if (!writer_) return;
    writer_->finish();
    writer_.reset();
    created_.add(path_);
  }

  const std::string out_;
  const std::int64_t samples_per_shard_;
  std::int64_t shard_ = 0, in_shard_ = 0;
  std::string path_;  // of the shard being written
  CreatedPaths created_;
  std::optional<TarWriter> writer_;  // goes first: the unfinished shard lies in a folder that created_ removes
};

}  // namespace

std::unique_ptr<SynthOutput> make_folder_output(const std::string& out) { return std::make_unique<FolderOutput>(out); }

std::unique_ptr<SynthOutput> make_tar_output(const std::string& out, std::int64_t samples_per_shard) {
  return std::make_unique<TarOutput>(out, samples_per_shard);
}

}  // namespace stoker
