// Answers that are documents, as S3 sends them.
#pragma once

#include <string>
#include <string_view>

#include "tests/store_server/answer.h"

namespace stoker {

std::string xml_escaped(std::string_view text);
Answer xml_answer(std::string_view root, std::string status = "200 OK");
/// An <Error> with this code.
Answer refusal(std::string status, std::string_view code);

}  // namespace stoker
