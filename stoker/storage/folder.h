// The entries directly in one folder of a store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

/// Threads: one at a time.
class Folder {
 public:
  struct Entry {
    std::string_view name;  // a view of the folder's text, where a NUL follows it
    bool is_folder = false;
    bool is_link = false;         // which counts as what it leads to
    bool is_broken_link = false;  // leads nowhere, or in circles
  };
  /// Two folders that are the same have the same.
  struct Identity {
    std::uint64_t device = 0, number = 0;
    bool operator==(const Identity&) const = default;
  };
  struct File {
    std::uint64_t length = 0;
    std::string_view fault{};  // what it is instead of a file that can be read: "unreadable file", "pipe"
  };

  virtual ~Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::size_t size() const { return rows_.size(); }
  Entry operator[](std::size_t i) const;
  Identity identity() const { return identity_; }
  /// Takes the entries whose names begin with a dot out of the list.
  void drop_hidden();
  /// Before that their order is the store's.
  void sort(bool (*less)(const Entry& a, const Entry& b));

  /// Looks at the entry of that name, which is not a folder. Throws kNotFound or kIo.
  virtual File look_at(std::string_view name) const = 0;
  /// Reads the beginning of the entry of that name, a file; returns how many bytes it has, at most those of `into`.
  /// Throws kNotFound or kIo.
  virtual std::size_t read(std::string_view name, MutableBytes into) const = 0;

 protected:
  explicit Folder(Identity identity) : identity_(identity) {}
  void add(const Entry& entry);

 private:
  struct Row {
    std::uint64_t begin;
    std::uint32_t length;
    bool is_folder, is_link, is_broken_link;
  };

  const Identity identity_;
  std::string text_;
  std::vector<Row> rows_;
};

}  // namespace stoker
