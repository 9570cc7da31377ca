// The library's only exception type: a kind that programs branch on, and a sentence that a person can act on. Threads:
// a value; many may read it, one may change it.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stoker {

enum class ErrorKind {
  kUsage,      // the caller asked for something that makes no sense: a wrong argument, an unknown operator
  kNotFound,   // a file, folder or field that should be there is not
  kIo,         // the operating system or the network refused or failed
  kData,       // a data set as a whole is damaged or unusable: a truncated shard, an empty folder
  kBadSample,  // one sample's bytes are bad (see "Bad samples" in ARCHITECTURE.md)
  kLimit,      // larger than a limit that protects the machine
  kMemory,     // memory, threads or descriptors that the machine refuses, or a memory budget that cannot work
  kClosed,     // the loader was closed or interrupted
};

/// The kind's name as Python's `Error.kind` and the logs show it: "usage", "not_found", ...
std::string_view to_string(ErrorKind kind);

/// Whether such an error may be the fault of data, so that a job continues with other data. Refusals of the machine and
/// a stop are not, nor are failures of a network that remote data are read over: everything that follows would fail in
/// the same way.
constexpr bool is_about_data(ErrorKind kind, bool is_remote = false) {
  return kind != ErrorKind::kMemory && kind != ErrorKind::kClosed && !(is_remote && kind == ErrorKind::kIo);
}

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string sentence) : kind_(kind), message_(std::move(sentence)) {}

  ErrorKind kind() const { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const { return message_; }

  /// The same error with "context: " put before its sentence; outer layers name what they were doing.
  Error with_context(std::string_view context) const { return Error(kind_, fmt::format("{}: {}", context, message_)); }

 private:
  ErrorKind kind_;
  std::string message_;
};

/// What `work` throws; null if it throws nothing.
template <typename Work>
std::exception_ptr thrown_by(const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// The sentence of an error that `work` throws and that is_about_data(); others pass. Nothing if it throws nothing.
template <typename Work>
std::optional<std::string> fault_of_data(const Work& work, bool is_remote = false) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    if (!is_about_data(error.kind(), is_remote)) throw;
    return error.message();
  }
}

/// Throws an Error whose sentence is formatted as fmt::format does.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace stoker
