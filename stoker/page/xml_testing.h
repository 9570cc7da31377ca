// Checks whether markup is well-formed XML, for tests of code that writes it.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

/// The first mistake and its place; empty if there is none. It knows elements, attributes, CDATA, a doctype and the
/// five entities, which is all that a ReportPage has.
std::string xml_fault(std::string_view xml);

}  // namespace stoker
