// Says whether markup is well-formed XML, for tests of what writes it.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

/// What is wrong with it and where; empty: nothing. It knows elements, attributes, CDATA, a doctype and the five
/// entities, which is all that a ReportPage has.
std::string xml_fault(std::string_view xml);

}  // namespace stoker
