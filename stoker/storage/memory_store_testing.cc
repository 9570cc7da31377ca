#include "stoker/storage/memory_store_testing.h"

#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/local_folder.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

/// What the names of a folder's objects begin with.
std::string prefix_of(const Location& folder) { return path_in(folder.text(), ""); }

}  // namespace

class MemoryStore::Listed final : public Folder {
 public:
  Listed(const Objects& objects, std::string prefix)
      : Folder({0, std::hash<std::string>()(prefix)}), objects_(objects), prefix_(std::move(prefix)) {
    std::set<std::string> folders;
    for (auto found = objects.by_name.lower_bound(prefix_);
         found != objects.by_name.end() && found->first.starts_with(prefix_); ++found) {
      const std::string below = found->first.substr(prefix_.size());
      const std::size_t slash = below.find('/');
      if (slash == std::string::npos) {
        add({.name = below});
      } else if (folders.insert(below.substr(0, slash)).second) {
        add({.name = below.substr(0, slash), .is_folder = true});
      }
    }
  }

  File look_at(std::string_view name) const override {
    return {.length = objects_.by_name.at(prefix_ + std::string(name)).size()};
  }
  std::size_t read(std::string_view name, MutableBytes into) const override {
    const std::vector<std::uint8_t>& bytes = objects_.by_name.at(prefix_ + std::string(name));
    const std::size_t count = std::min(bytes.size(), into.size());
    std::copy_n(bytes.begin(), count, into.begin());
    return count;
  }

 private:
  const Objects& objects_;
  std::string prefix_;
};

/// Reads each part as an object of its own.
class MemoryStore::Parts final : public Source {
 public:
  Parts(std::string name, std::shared_ptr<Objects> objects) : name_(std::move(name)), objects_(std::move(objects)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view part) const override { return bytes_of(part).size(); }
  std::unique_ptr<Folder> list(std::string_view part) const override {
    return std::make_unique<Listed>(*objects_, path_in(name_, part.empty() ? "" : path_in(part, "")));
  }
  void start(ReadRequest& request) override {
    const std::string_view part = std::exchange(request.part, {});
    void (*const done)(ReadRequest&) noexcept = std::exchange(request.done, [](ReadRequest&) noexcept {});
    MemorySource(path_in(name_, part), bytes_of(part)).start(request);
    request.part = part;
    request.done = done;
    request.done(request);
  }

 private:
  const std::vector<std::uint8_t>& bytes_of(std::string_view part) const {
    const std::lock_guard lock(objects_->mutex);
    return objects_->by_name.at(path_in(name_, part));
  }

  std::string name_;
  std::shared_ptr<Objects> objects_;
};

class MemoryStore::Writer final : public ObjectWriter {
 public:
  Writer(std::string name, std::shared_ptr<Objects> objects) : name_(std::move(name)), objects_(std::move(objects)) {}

  const std::string& name() const override { return name_; }
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void commit() override {
    const std::lock_guard lock(objects_->mutex);
    objects_->by_name[name_] = std::move(bytes_);
  }

 private:
  std::string name_;
  std::shared_ptr<Objects> objects_;
  std::vector<std::uint8_t> bytes_;
};

std::optional<ObjectFacts> MemoryStore::find(const Location& at) const {
  if (on_find_) on_find_(at);
  if (refusal_ && hides_ && thrown_by([&] { refusal_(at); })) return std::nullopt;
  const std::lock_guard lock(objects_->mutex);
  const auto& all = objects_->by_name;
  if (const auto found = all.find(at.text()); found != all.end()) {
    const std::string content(found->second.begin(), found->second.end());
    return ObjectFacts{.size = content.size(), .tag = std::to_string(std::hash<std::string>()(content))};
  }
  const std::string prefix = prefix_of(at);
  const auto below = all.lower_bound(prefix);
  if (below == all.end() || !below->first.starts_with(prefix)) return std::nullopt;
  return ObjectFacts{.mode = S_IFDIR};
}

std::unique_ptr<Folder> MemoryStore::list(const Location& folder) const {
  const std::lock_guard lock(objects_->mutex);
  return std::make_unique<Listed>(*objects_, prefix_of(folder));
}

std::vector<Location> MemoryStore::match(const Location& pattern) const {
  std::vector<Location> found;
  for (const std::string& name : names()) {
    if (::fnmatch(pattern.text().c_str(), name.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) found.emplace_back(name);
  }
  return found;
}

std::shared_ptr<Source> MemoryStore::open(const Location& at) const {
  if (refusal_) refusal_(at);
  const std::lock_guard lock(objects_->mutex);
  const auto found = objects_->by_name.find(at.text());
  if (found == objects_->by_name.end()) fail(ErrorKind::kNotFound, "there is no '{}'", at);
  ++objects_->opened;
  return std::make_shared<MemorySource>(at.text(), found->second, on_find_ != nullptr);
}

std::shared_ptr<Source> MemoryStore::open_folder(const Location& folder) const {
  return std::make_shared<Parts>(folder.text(), objects_);
}

std::unique_ptr<ObjectWriter> MemoryStore::put(const Location& at) const {
  if (refusal_) refusal_(at);
  return std::make_unique<Writer>(at.text(), objects_);
}

void MemoryStore::remove(const Location& at) const {
  const std::lock_guard lock(objects_->mutex);
  objects_->by_name.erase(at.text());
}

void MemoryStore::write(const Location& at, std::string_view content) const {
  const std::unique_ptr<ObjectWriter> object = put(at);
  object->write(as_bytes(content));
  object->commit();
}

std::vector<std::string> MemoryStore::names() const {
  const std::lock_guard lock(objects_->mutex);
  std::vector<std::string> all;
  for (const auto& [name, bytes] : objects_->by_name) all.push_back(name);
  return all;
}

}  // namespace stoker
