#include "model/machine_constants.hpp"

#include <charconv>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace wherry::model {
namespace {

std::size_t row_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (constants[i].name == name) return i;
    known.push_back(constants[i].name);
  }
  throw usage_error("the cost model has no constant '" + std::string(name) + "'" + did_you_mean(name, known));
}

double value_of(const Constant& constant, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  require(is_number && is_plausible(constant, value),
          "'" + std::string(text) + "' is no " + std::string(constant.name) +
              " of any machine; write a number" +
              (constant.unit.empty() ? "" : " in " + std::string(constant.unit)));
  return value;
}

}  // namespace

Constants constants_in(std::string_view text) {
  Constants known = nothing_known;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t equals = one.find('=');
    require(equals != one.npos,
            "'" + std::string(one) +
                "' gives no constant of the cost model a value; write for example alpha_between=8e-6");
    const std::size_t row = row_named(one.substr(0, equals));
    known[row] = value_of(constants[row], one.substr(equals + 1));
  }
  return known;
}

}  // namespace wherry::model
