#include "stoker/pack/synth/synth_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/synth/created_paths.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class FolderOutput final : public SynthOutput {
 public:
  explicit FolderOutput(const std::string& out) : out_(out) { created_.claim_empty_folder(out); }

  void add(const SynthSample& sample) override {
    const std::string folder = out_ + "/" + sample.class_name;
    if (sample.class_name != class_name_) {
      created_.create_folder(folder);
      class_name_ = sample.class_name;
    }
    write_file(folder + "/" + sample.name + "." + sample.extension, sample.image);
  }
  void finish() override { created_.keep(); }

 private:
  void write_file(const std::string& path, Bytes content) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file) fail_system("create", path, errno);
    created_.add_file(path);
    write_fully(file, content, path);
    if (::close(file.release()) != 0) fail_system("write", path, errno);
  }

  const std::string out_;
  std::string class_name_;  // whose folder was created last
  CreatedPaths created_;
};

class TarOutput final : public SynthOutput {
 public:
  TarOutput(const std::string& out, std::int64_t samples_per_shard) : out_(out), samples_per_shard_(samples_per_shard) {
    if (!single()) {
      created_.claim_empty_folder(out);
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
    created_.add_file(path_);  // before it has its name: finish() may fail after that
    writer_->finish();
    writer_.reset();
  }

  const std::string out_;
  const std::int64_t samples_per_shard_;
  std::int64_t shard_ = 0, in_shard_ = 0;
  std::string path_;  // of the shard being written
  CreatedPaths created_;
  std::optional<TarWriter> writer_;  // goes first, with the unfinished shard: created_ removes empty folders
};

}  // namespace

std::unique_ptr<SynthOutput> make_folder_output(const std::string& out) { return std::make_unique<FolderOutput>(out); }

std::unique_ptr<SynthOutput> make_tar_output(const std::string& out, std::int64_t samples_per_shard) {
  return std::make_unique<TarOutput>(out, samples_per_shard);
}

}  // namespace stoker
