#include "python/bindings/sample_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "python/bindings/arguments.h"
#include "stoker/base/error.h"
#include "stoker/format/member_name.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// The value that a sample's dict has for a field. Where none is called "image", that is what it is in a data set
// (Dataset::image_field). A class of dicts may make it only now: then this is its only owner.
nb::object field_of(const nb::dict& sample, const std::string& name) {
  const nb::object key = to_python_text(name);
  if (sample.contains(key)) return sample[key];
  if (name == "image") {
    nb::object found;
    for (const auto& [field, value] : sample) {
      if (!nb::isinstance<nb::str>(field)) continue;
      const std::string text = name_argument("a field", field);
      if (!is_image_field_name(text)) continue;
      if (text.find('.') == std::string::npos) return nb::borrow(value);
      if (!found.is_valid()) found = nb::borrow(value);
    }
    if (found.is_valid()) return found;
    if (const nb::str raw("npy"); sample.contains(raw)) return sample[raw];
    fail(ErrorKind::kNotFound, "data has no image: neither a field 'image' or 'npy' nor one that ends in {}",
         kImageExtensions);
  }
  fail(ErrorKind::kNotFound, "data has no field '{}', which the recipe reads", name);
}

}  // namespace

HeldBytes::HeldBytes(std::string_view name, nb::handle value) {
  if (PyBytes_Check(value.ptr())) {
    owner_ = nb::borrow(value);
    bytes_ = as_bytes({PyBytes_AS_STRING(value.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(value.ptr()))});
  } else {
    copy_ = copied_bytes_argument(name, value);
    bytes_ = copy_;
  }
}

std::vector<HeldBytes> sample_fields(const std::vector<std::string>& names, const std::vector<std::string>& optional,
                                     nb::handle data) {
  std::vector<HeldBytes> fields;
  const auto may_lack = [&](const std::string& name) {
    return std::find(optional.begin(), optional.end(), name) != optional.end();
  };
  if (nb::isinstance<nb::dict>(data)) {
    const nb::dict sample = nb::borrow<nb::dict>(data);
    for (const std::string& name : names) {
      const bool is_lacking = may_lack(name) && !sample.contains(to_python_text(name));
      const nb::object value = is_lacking ? nb::bytes("", 0) : field_of(sample, name);
      fields.emplace_back(name, value);
    }
    return fields;
  }
  if (names.size() > 1 && names.size() - optional.size() != 1) {
    fail(ErrorKind::kUsage, "the recipe reads the fields {}: give a dict of bytes", fmt::join(names, ", "));
  }
  for (const std::string& name : names) {
    const bool is_lacking = names.size() > 1 && may_lack(name);
    fields.emplace_back("data", is_lacking ? nb::handle(nb::bytes("", 0)) : data);
  }
  return fields;
}

std::int64_t sample_label(nb::handle given, nb::handle data) {
  constexpr std::int64_t kLabelMax = std::numeric_limits<std::int64_t>::max();
  if (given) return integer_argument("label", given, -1, kLabelMax);
  nb::object known;
  if (nb::isinstance<nb::dict>(data)) known = nb::borrow(PyDict_GetItemString(data.ptr(), "label"));
  const bool is_number = known.is_valid() && !PyBytes_Check(known.ptr());  // or a field with a text
  return is_number ? integer_argument("label", known, -1, kLabelMax) : -1;
}

}  // namespace stoker::python
