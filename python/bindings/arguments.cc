#include "python/bindings/arguments.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <climits>

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
  const nb::object elements = nb::steal(is_path(plain) ? nullptr : PyObject_GetIter(plain.ptr()));
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
  if (!nb::isinstance<nb::str>(value)) refuse(name, value, wanted);
  return nb::cast<std::string>(value);
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
    device = nb::cast<std::string>(value);
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
  try {
    return parse_size(nb::cast<std::string>(value));
  } catch (const Error& error) {
    throw error.with_context(name);
  }
}

std::vector<std::uint8_t> copied_bytes_argument(std::string_view name, nb::handle value) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(value.ptr(), &buffer, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    refuse(name, value, "bytes");
  }
  const std::string_view format = buffer.format ? buffer.format : "B";
  if (format != "B" && format != "c") {
    PyBuffer_Release(&buffer);
    refuse(name, value, "bytes or an array of uint8");
  }
  std::vector<std::uint8_t> copy(static_cast<std::size_t>(buffer.len));
  const bool copied = PyBuffer_ToContiguous(copy.data(), &buffer, buffer.len, 'C') == 0;
  PyBuffer_Release(&buffer);
  if (!copied) throw nb::python_error();
  return copy;
}

nb::object to_python_text(std::string_view text, const char* errors) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), errors);
  if (!decoded) throw nb::python_error();
  return nb::steal(decoded);
}

}  // namespace stoker::python
