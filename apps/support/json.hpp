// JSON, as all of Wherry writes it.
#pragma once

#include "base/json_writer.hpp"

namespace apps {

using wherry::json_number;
using wherry::json_string;
using wherry::JsonWriter;

/// A member that is a list of plain values.
template <class Values>
void list(JsonWriter& json, const char* name, const Values& values) {
  json.member(name, [&] {
    json.array([&] {
      for (const auto& value : values) json.value(value);
    });
  });
}

}  // namespace apps
