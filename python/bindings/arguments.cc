#include "python/bindings/arguments.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <climits>
#include <optional>

#include "python/bindings/dataset.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

[[noreturn]] void refuse(std::string_view name, nb::handle value, std::string_view wanted) {
  fail(ErrorKind::kUsage, "{} is {}, but must be {}", name, describe(value), wanted);
}

// Also of numpy's integers and of whatever else Python accepts as an index; no truth value is meant.
nb::object whole_number(std::string_view name, nb::handle value) {
  const nb::object plain = plain_value(value);
  if (!PyBool_Check(plain.ptr()) && PyIndex_Check(plain.ptr())) {
    PyObject* number = PyNumber_Index(plain.ptr());
    if (!number) throw nb::python_error();
    return nb::steal(number);
  }
  refuse(name, value, "a whole number");
}

// Of a str, as str.encode() makes them; nothing where `errors` does not let it.
std::optional<std::string> utf8_of(nb::handle text, const char* errors) {
  PyObject* encoded = PyUnicode_AsEncodedString(text.ptr(), "utf-8", errors);
  if (!encoded) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) throw nb::python_error();
    PyErr_Clear();
    return std::nullopt;
  }
  const nb::object owner = nb::steal(encoded);
  return std::string(PyBytes_AS_STRING(encoded), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded)));
}

std::string encoded_argument(std::string_view name, nb::handle value, std::string_view wanted, const char* errors) {
  if (!nb::isinstance<nb::str>(value)) refuse(name, value, wanted);
  std::optional<std::string> bytes = utf8_of(value, errors);
  if (!bytes) refuse(name, value, "a text that UTF-8 can hold");
  return *std::move(bytes);
}

/// What an object shows of its memory, if it has any.
class ShownMemory {
 public:
  explicit ShownMemory(nb::handle value) : is_there_(PyObject_GetBuffer(value.ptr(), &view_, PyBUF_FULL_RO) == 0) {
    if (!is_there_) PyErr_Clear();
  }
  ~ShownMemory() {
    if (is_there_) PyBuffer_Release(&view_);
  }
  ShownMemory(const ShownMemory&) = delete;
  ShownMemory& operator=(const ShownMemory&) = delete;

  bool is_there() const { return is_there_; }
  bool is_bytes() const {
    const std::string_view format = is_there_ && view_.format ? view_.format : "B";
    return is_there_ && (format == "B" || format == "c");
  }
  std::vector<std::uint8_t> copy() {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(view_.len));
    if (PyBuffer_ToContiguous(bytes.data(), &view_, view_.len, 'C') != 0) throw nb::python_error();
    return bytes;
  }

 private:
  Py_buffer view_;
  bool is_there_;
};

// The number of the GPU that 'cuda' means. PyTorch is asked only where the program has imported it.
std::int64_t current_gpu() {
  const nb::object torch = nb::module_::import_("sys").attr("modules").attr("get")("torch");
  if (torch.is_none() || !nb::cast<bool>(torch.attr("cuda").attr("is_available")())) return 0;
  return nb::cast<std::int64_t>(torch.attr("cuda").attr("current_device")());
}

}  // namespace

std::string describe(nb::handle value) {
  constexpr std::size_t kShown = 80;
  PyObject* ascii = PyObject_ASCII(value.ptr());
  if (!ascii) {  // a number of thousands of digits, or a __repr__ that raises
    PyErr_Clear();
    return fmt::format("a value of type {}", nb::cast<std::string>(nb::type_name(value.type())));
  }
  std::string text = nb::cast<std::string>(nb::steal<nb::str>(ascii));
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

nb::object plain_value(nb::handle value) {
  if (PyLong_Check(value.ptr()) || !nb::hasattr(value, "tolist")) return nb::borrow(value);
  return value.attr("tolist")();
}

nb::list list_argument(std::string_view name, nb::handle value, std::string_view wanted) {
  const nb::object plain = plain_value(value);
  const bool is_one = is_path(plain) || nb::isinstance<PyDataset>(plain);  // though Python can iterate over it
  const nb::object elements = nb::steal(is_one ? nullptr : PyObject_GetIter(plain.ptr()));
  if (!elements.is_valid()) {
    PyErr_Clear();
    refuse(name, value, wanted);
  }
  PyObject* list = PySequence_List(elements.ptr());
  if (!list) throw nb::python_error();
  return nb::steal<nb::list>(list);
}

std::int64_t integer_argument(std::string_view name, nb::handle value, std::int64_t least, std::int64_t most) {
  const nb::object number = whole_number(name, value);
  int overflow = 0;
  const std::int64_t result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow > 0 || result > most) refuse(name, value, fmt::format("at most {}", most));
  if (overflow < 0 || result < least) refuse(name, value, fmt::format("at least {}", least));
  return result;
}

double number_argument(std::string_view name, nb::handle value, std::string_view kind) {
  double number = 0;
  if (PyBool_Check(value.ptr()) || !nb::try_cast(value, number)) refuse(name, value, kind);
  return number;
}

std::uint64_t unsigned_argument(std::string_view name, nb::handle value) {
  const nb::object number = whole_number(name, value);
  const std::uint64_t result = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    refuse(name, value, "between 0 and 2**64 - 1");
  }
  return result;
}

bool flag_argument(std::string_view name, nb::handle value) {
  if (!PyBool_Check(value.ptr())) refuse(name, value, "True or False");
  return value.is(nb::handle(Py_True));
}

std::string text_argument(std::string_view name, nb::handle value, std::string_view wanted) {
  return encoded_argument(name, value, wanted, "strict");
}

std::string name_argument(std::string_view name, nb::handle value) {
  return encoded_argument(name, value, "a text", "surrogateescape");
}

bool is_path(nb::handle value) { return nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__"); }

std::string path_argument(std::string_view name, nb::handle value) {
  if (!is_path(value)) refuse(name, value, "a path");
  PyObject* encoded = nullptr;
  if (!PyUnicode_FSConverter(value.ptr(), &encoded)) throw nb::python_error();
  const nb::object owner = nb::steal(encoded);
  return {PyBytes_AS_STRING(encoded), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded))};
}

std::vector<std::string> paths_argument(std::string_view name, nb::handle value) {
  if (is_path(value)) return {path_argument(name, value)};
  const bool is_list = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  if (!is_list || nb::len(value) == 0) {
    refuse(name, value,
           nb::hasattr(value, "__getitem__") && !is_list
               ? "a path or a list of paths: Stoker reads and decodes files itself, so give the paths of the files "
                 "that such a data set loads"
               : "a path or a list of paths");
  }
  std::vector<std::string> paths;
  for (const nb::handle element : value) paths.push_back(path_argument(name, element));
  return paths;
}

std::string device_argument(std::string_view name, nb::handle value) {
  std::string device;
  if (nb::isinstance<nb::str>(value)) {
    device = text_argument(name, value);
  } else if (nb::hasattr(value, "type") && nb::hasattr(value, "index")) {  // torch.device
    device = text_argument(name, value.attr("type"));
    const nb::object index = value.attr("index");
    if (!index.is_none() && device != "cpu") device += fmt::format(":{}", integer_argument(name, index, 0, INT_MAX));
  } else {
    refuse(name, value, "a device: 'cpu', 'cuda:0', a torch.device or 'emulated:NAME'");
  }
  return device == "cuda" ? fmt::format("cuda:{}", current_gpu()) : device;
}

std::uint64_t size_argument(std::string_view name, nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) return unsigned_argument(name, value);
  const std::string text = text_argument(name, value);
  try {
    return parse_size(text);
  } catch (const Error& error) {
    throw error.with_context(name);
  }
}

bool has_bytes(nb::handle value) { return ShownMemory(value).is_bytes(); }

std::vector<std::uint8_t> copied_bytes_argument(std::string_view name, nb::handle value) {
  ShownMemory memory(value);
  if (!memory.is_there()) refuse(name, value, "bytes");
  if (!memory.is_bytes()) refuse(name, value, "bytes or an array of uint8");
  return memory.copy();
}

std::string shown_text(nb::handle value) { return utf8_of(nb::str(value), "backslashreplace").value(); }

nb::object to_python_text(std::string_view text, const char* errors) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), errors);
  if (!decoded) throw nb::python_error();
  return nb::steal(decoded);
}

}  // namespace stoker::python
