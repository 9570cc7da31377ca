#include "stoker/format/zip/zip_format.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/escaped.h"
#include "stoker/format/folder/folder_format.h"
#include "stoker/format/folder/passed_over.h"
#include "stoker/format/member_name.h"
#include "stoker/format/zip/zip_directory.h"
#include "stoker/storage/block_source.h"

namespace stoker {
namespace {

// What Finder adds, with a file for each file.
constexpr std::string_view kMacFolder = "__MACOSX";

// A class number is far shorter: nothing else is decompressed during a scan.
constexpr std::uint64_t kReadBytesMax = 4096;

/// The method's number, and its name where it has been met.
std::string method_name(std::uint16_t method) {
  switch (method) {
    case 9: return "deflate64";
    case 12: return "bzip2";
    case 14: return "LZMA";
    case 95: return "xz";
    case 98: return "PPMd";
    default: return fmt::format("method {}", method);
  }
}

/// The members of a zip with the places where their bytes appear to lie.
class ZipMembers {
 public:
  ZipMembers(Source& source, const std::stop_token& stop)
      : directory_(source, stop), blocks_(source), places_(directory_.members().size(), kNoPlace) {}

  const ZipDirectory& directory() const { return directory_; }
  BlockPlaces& blocks() { return blocks_; }

  /// The member of that name, which there must be.
  const ZipMember& member(std::string_view name) const { return *directory_.from(name); }

  /// Where the member's bytes appear to lie. Throws kData where they cannot be read.
  std::uint64_t place(const ZipMember& member) {
    std::uint64_t& place = places_[static_cast<std::size_t>(&member - directory_.members().data())];
    if (place == kNoPlace) place = blocks_.add(block_of(member));
    return place;
  }

 private:
  static constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};

  CompressedBlock block_of(const ZipMember& member) const {
    const std::string& zip = blocks_.name();
    const std::string name = escaped(directory_.name(member));
    if (member.is_encrypted) {
      fail(ErrorKind::kData, "'{}': the member '{}' is encrypted, and Stoker reads no encrypted files", zip, name);
    }
    CompressedBlock block{.offset = member.data, .stored_length = member.stored_length, .length = member.length};
    if (member.method == ZipDirectory::kStored) {
      block.codec = BlockCodec::kStored;
    } else if (member.method == ZipDirectory::kDeflated) {
      block.codec = BlockCodec::kDeflate;
    } else if (member.method == ZipDirectory::kZstd) {
      block.codec = BlockCodec::kZstd;
    } else {
      fail(ErrorKind::kData,
           "'{}': the member '{}' is compressed by {}; Stoker reads members that are stored as they are, deflated or "
           "compressed by zstd",
           zip, name, method_name(member.method));
    }
    return block;
  }

  const ZipDirectory directory_;
  BlockPlaces blocks_;
  std::vector<std::uint64_t> places_;
};

/// One folder of a zip.
class ZipFolder final : public Folder {
 public:
  /// `path` ends with a slash, or is empty.
  ZipFolder(ZipMembers& members, std::string path, std::uint64_t number)
      : Folder({.device = 0, .number = number}), members_(members), path_(std::move(path)) {
    const ZipDirectory& directory = members_.directory();
    const auto end = directory.members().end();
    for (auto next = directory.from(path_); next != end && directory.name(*next).starts_with(path_);) {
      const std::string_view rest = directory.name(*next).substr(path_.size());
      const std::string_view name = rest.substr(0, rest.find('/'));
      if (name.size() == rest.size()) {
        if (!name.empty() && !next->is_link) add({.name = name});
        ++next;
        continue;
      }
      const bool is_of_samples = !path_.empty() || (name != kMacFolder && !is_about_the_shard(name));
      if (is_of_samples && is_plain(name)) add({.name = name, .is_folder = true});
      next = directory.from(path_ + std::string(name) + char{'/' + 1});  // after all that begins with the folder's name
    }
  }

  File look_at(std::string_view name) const override {
    return {.length = members_.member(path_ + std::string(name)).length};
  }

  std::size_t read(std::string_view name, MutableBytes into) const override {
    const ZipMember& member = members_.member(path_ + std::string(name));
    if (member.length > kReadBytesMax) return 0;
    const MutableBytes wanted = into.first(std::min<std::uint64_t>(into.size(), member.length));
    read_fully(members_.blocks().source(), members_.place(member), wanted);
    return wanted.size();
  }

  /// Whether a folder of that name can be one of a folder: not "", "." or "..".
  static bool is_plain(std::string_view name) { return !name.empty() && name != "." && name != ".."; }

 private:
  ZipMembers& members_;
  std::string path_;
};

/// A zip as a source of parts, which are listed and not read.
class ZipFolders final : public Source {
 public:
  ZipFolders(const std::string& name, ZipMembers& members) : name_(name), members_(members) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view part) const override { return members_.member(part).length; }
  std::unique_ptr<Folder> list(std::string_view part) const override {
    std::string path(part);
    if (!path.empty()) path += '/';
    return std::make_unique<ZipFolder>(members_, std::move(path), listed_++);
  }
  void start(ReadRequest& request) override {
    request.error = thrown_by([&] { fail(ErrorKind::kUsage, "'{}' is only listed", name_); });
    request.done(request);
  }

 private:
  const std::string& name_;
  ZipMembers& members_;
  mutable std::uint64_t listed_ = 0;
};

class ZipScan final : public ShardScan {
 public:
  ZipScan(Source& source, const std::stop_token& stop)
      : name_(source.name()),
        members_(source, stop),
        folders_(name_, members_),
        samples_(FolderFormat().scan(folders_, stop)) {
    pass_over();
  }

  bool next(SampleRow& row) override {
    if (!samples_->next(row)) return false;
    row.source = &members_.blocks().source();
    for (SampleField& field : row.fields) {
      const ZipMember& member = members_.member(field.part);
      field.offset = members_.place(member);
      field.crc32 = member.crc32;
      field.part = {};
    }
    return true;
  }

  ShardNotes take_notes() override {
    ShardNotes notes = samples_->take_notes();
    for (std::string& sentence : passed_over_.sentences(name_)) notes.problems.push_back(std::move(sentence));
    notes.blocks = members_.blocks().take();
    return notes;
  }

 private:
  /// What a folder does not have.
  void pass_over() {
    const ZipDirectory& directory = members_.directory();
    for (const ZipMember& member : directory.members()) {
      const std::string_view name = directory.name(member);
      if (member.is_link) {
        passed_over_.add("symbolic link", escaped(name));
      } else if (is_out_of_place(name)) {
        passed_over_.add("misplaced member", escaped(name));
      }
    }
  }

  /// Whether a component of the name is none of a file's in the folder.
  static bool is_out_of_place(std::string_view name) {
    for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
      if (!ZipFolder::is_plain(name.substr(0, slash))) return true;
      name.remove_prefix(slash + 1);
    }
    return false;
  }

  const std::string name_;
  ZipMembers members_;
  ZipFolders folders_;
  std::unique_ptr<ShardScan> samples_;
  PassedOver passed_over_;
};

}  // namespace

bool ZipFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  const std::string_view head = as_text(shard.head());
  return shard.name().ends_with(".zip") || head.starts_with("PK\3\4") || head.starts_with("PK\5\6");
}

std::unique_ptr<ShardScan> ZipFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<ZipScan>(shard, stop);
}

}  // namespace stoker
