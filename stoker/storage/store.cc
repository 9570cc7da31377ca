#include "stoker/storage/store.h"

#include <cerrno>

#include "stoker/storage/local_folder.h"

namespace stoker {
namespace {

std::string text_of(const timespec& time) { return fmt::format("{}.{:09}", time.tv_sec, time.tv_nsec); }

}  // namespace

std::string ObjectFacts::version() const {
  // Not the device's number, which may be another after a restart.
  return fmt::format("{} {} {}{}", identity.number, size, text_of(modified), tag);
}

std::string ObjectFacts::strict_version() const {
  return fmt::format("{} {} {}{}", identity.number, text_of(modified), text_of(changed), tag);
}

ObjectFacts Store::stat(const Location& at, std::string_view doing) const {
  if (std::optional<ObjectFacts> found = find(at)) return *std::move(found);
  fail_system(doing, at.text(), ENOENT);
}

bool Store::lies_in(const Location& inner, const Location& folder) const {
  return path_in(inner.text(), "").starts_with(path_in(folder.text(), ""));
}

}  // namespace stoker
