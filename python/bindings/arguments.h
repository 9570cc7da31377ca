// From Python's values to ours and back. A value of the wrong type is an Error of kind usage that names the argument,
// as every other misuse is.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::python {

/// As messages show it: "'abc'", "[1, 2]".
std::string describe(nanobind::handle value);

/// Arrays and scalars of numpy and PyTorch as Python's lists, numbers and truth values; all else as it is.
nanobind::object plain_value(nanobind::handle value);

/// The elements of an iterable or an array; a text is none. `wanted` says what it must be: "a list of weights".
nanobind::list list_argument(std::string_view name, nanobind::handle value, std::string_view wanted);

/// A whole number of least <= value <= most.
std::int64_t integer_argument(std::string_view name, nanobind::handle value, std::int64_t least, std::int64_t most);
/// `kind` says what it must be: "a number of seconds".
double number_argument(std::string_view name, nanobind::handle value, std::string_view kind);
std::uint64_t unsigned_argument(std::string_view name, nanobind::handle value);
bool flag_argument(std::string_view name, nanobind::handle value);
/// `wanted` says what it must be: "one of on, once, off". It must be Unicode; see name_argument().
std::string text_argument(std::string_view name, nanobind::handle value, std::string_view wanted = "a text");
/// A name of something in a data set, whose bytes may be any: the inverse of to_python_text().
std::string name_argument(std::string_view name, nanobind::handle value);
/// str or os.PathLike.
bool is_path(nanobind::handle value);
/// Such a path, in the bytes of the file system.
std::string path_argument(std::string_view name, nanobind::handle value);
/// One path, or a list of them.
std::vector<std::string> paths_argument(std::string_view name, nanobind::handle value);
/// The name of a device: a str, or what torch.device makes. 'cuda' is the GPU that PyTorch works with at present, where
/// it was imported, else the first.
std::string device_argument(std::string_view name, nanobind::handle value);
/// A number of bytes, or a text such as "512MiB".
std::uint64_t size_argument(std::string_view name, nanobind::handle value);
/// Whether it is bytes, a bytearray, a memoryview or an array of uint8.
bool has_bytes(nanobind::handle value);
/// A copy of what such a value holds.
std::vector<std::uint8_t> copied_bytes_argument(std::string_view name, nanobind::handle value);

/// What str() says of a value, for messages: what is not Unicode as "\udc80".
std::string shown_text(nanobind::handle value);
/// Text that is meant to be UTF-8 but comes from files; `errors` as in bytes.decode().
nanobind::object to_python_text(std::string_view text, const char* errors = "surrogateescape");

}  // namespace stoker::python
