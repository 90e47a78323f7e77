#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>

#include "base/json_writer.hpp"

using wherry::json_string;
using wherry::JsonWriter;

TEST_CASE("json_string: quotes, backslashes and control characters are escaped") {
  CHECK(json_string("plain") == R"("plain")");
  CHECK(json_string("a \"b\" \\ c") == R"("a \"b\" \\ c")");
  CHECK(json_string("line\nbreak\x1f") == "\"line\\u000abreak\\u001f\"");
  CHECK(json_string(std::string("\0", 1)) == "\"\\u0000\"");
}

TEST_CASE("json_string: UTF-8 passes, anything else is replaced") {
  CHECK(json_string("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x9A\xA3") ==
        "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x9A\xA3\"");
  CHECK(json_string("\xFF") == "\"\\ufffd\"");
  CHECK(json_string("\xC3") == "\"\\ufffd\"");
  CHECK(json_string("\xC0\x80") == "\"\\ufffd\\ufffd\"");             // longer than needed
  CHECK(json_string("\xED\xA0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
  CHECK(json_string("\xF4\x90\x80\x80x").ends_with("\\ufffdx\""));    // beyond U+10FFFF
}

TEST_CASE("JsonWriter: nested values") {
  std::ostringstream out;
  JsonWriter json(out);
  json.object([&] {
    json.member("n", 3);
    json.member("yes", true);
    json.member("s", std::string("x\"y"));
    json.member("list", [&] {
      json.array([&] {
        json.value(1);
        json.object([] {});
        json.array([] {});
      });
    });
    json.member("half", 0.5);
  });
  CHECK(out.str() ==
        "{\n  \"n\": 3,\n  \"yes\": true,\n  \"s\": \"x\\\"y\",\n  \"list\": [\n    1,\n    {},\n    []\n  "
        "],\n  \"half\": 0.5\n}\n");
}

TEST_CASE("JsonWriter: numbers that JSON cannot write are null") {
  std::ostringstream out;
  JsonWriter json(out);
  json.array([&] {
    json.value(std::numeric_limits<double>::infinity());
    json.value(std::numeric_limits<double>::quiet_NaN());
    json.value(1e-300);
  });
  CHECK(out.str() == "[\n  null,\n  null,\n  1e-300\n]\n");
}
