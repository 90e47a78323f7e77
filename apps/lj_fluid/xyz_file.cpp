// Extended XYZ: the number of particles; a line of key=value, among them Lattice and Properties; a line per particle.
#include <algorithm>
#include <array>
#include <map>

#include "lj_fluid/atom_reader.hpp"
#include "support/json.hpp"

namespace lj_fluid {
namespace {

using Keys = std::map<std::string, std::string, std::less<>>;

/// Words and key="several words" of a line.
Keys keys_of(const apps::Lines& lines) {
  Keys keys;
  std::string_view rest = lines.rest();
  constexpr std::string_view blanks = " \t\r";
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    if (rest.empty()) return keys;
    const std::size_t sign = rest.find_first_of(" \t\r=");
    const std::string key(rest.substr(0, sign));
    rest.remove_prefix(std::min(sign, rest.size()));
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    const bool quoted = rest.starts_with('"');
    if (quoted) rest.remove_prefix(1);
    const std::size_t end = quoted ? rest.find('"') : std::min(rest.find_first_of(blanks), rest.size());
    if (end == rest.npos) lines.fail("the quotes of '" + apps::shown(key) + "' are not closed");
    keys[key] = rest.substr(0, end);
    rest.remove_prefix(end + (quoted ? 1 : 0));
  }
}

/// Columns that follow each other; what they mean, and where it goes. Others are skipped.
struct Column {
  std::string name;
  int width;
};

class Parser {
 public:
  Parser(const std::string& name, std::string_view text) : name_(name), lines_(name, text) {}

  Configuration parse() {
    bool any = false;
    while (lines_.next_but("")) {
      frame();
      any = true;
    }
    if (!any) lines_.fail_at(1, "the file is empty; give one in the extended XYZ format");
    return std::move(all_);
  }

 private:
  void frame() {
    all_ = {};
    AtomReader atoms(lines_, all_);
    const auto count = lines_.number<std::uint64_t>("number of particles", 1, AtomReader::most_atoms);
    lines_.expect_end();
    if (!lines_.next()) lines_.fail("the line with Lattice and Properties is missing");
    header();
    atoms.check_box();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!lines_.next())
        lines_.fail("the file ends after " + std::to_string(i) + " of " + std::to_string(count) +
                    " particles");
      particle(atoms, i + 1);
    }
  }

  void particle(AtomReader& atoms, std::uint64_t number) {
    Atom atom{.identity = number};
    for (const Column& column : columns_) {
      if (column.name == "id") atom.identity = atoms.identity();
      else if (column.name == "pos") atom.position = atoms.vector("coordinate");
      else if (column.name == "velo") atom.velocity = atoms.vector("velocity");
      else if (column.name == "forces") atom.force = atoms.vector("force");
      else
        for (int i = 0; i < column.width; ++i)
          if (lines_.word().empty()) lines_.fail("the column '" + apps::shown(column.name) + "' is missing");
    }
    lines_.expect_end();
    atoms.add(atom);
  }

  void header() {
    const Keys keys = keys_of(lines_);
    lattice(keys);
    const auto properties = keys.find("Properties");
    columns(properties == keys.end() ? "species:S:1:pos:R:3" : properties->second);
    if (keys.contains("lj_fluid_step")) state(keys);
  }

  /// The numbers of a value in quotes, with messages of this line.
  template <std::size_t n>
  std::array<double, n> numbers(const Keys& keys, const std::string& key) const {
    const auto found = keys.find(key);
    if (found == keys.end()) lines_.fail(key + " is missing");
    apps::Lines value(name_ + ", line " + std::to_string(lines_.line_number()), found->second);
    std::array<double, n> all{};
    value.next();
    for (double& x : all)
      x = value.template number<double>("number of " + key, -AtomReader::farthest, AtomReader::farthest);
    value.expect_end();
    return all;
  }

  void lattice(const Keys& keys) {
    const auto lattice = numbers<9>(keys, "Lattice");
    if (keys.contains("Origin")) all_.lower = numbers<3>(keys, "Origin");
    for (std::size_t i = 0; i < 9; ++i) {
      if (i % 4 == 0) all_.upper[i / 4] = all_.lower[i / 4] + lattice[i];
      else if (lattice[i] != 0)
        lines_.fail("the box is not rectangular; give a Lattice with a diagonal alone");
    }
  }

  void columns(const std::string& properties) {
    columns_.clear();
    std::string_view rest = properties;
    const auto word = [&] {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::string_view found = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      return std::string(found);
    };
    while (!rest.empty()) {
      const std::string name = word(), kind = word(), width = word();
      if (width.size() != 1 || width[0] < '1' || width[0] > '9' || kind.size() != 1)
        lines_.fail("Properties has not the form name:kind:columns, repeated");
      columns_.push_back({settled(name), width[0] - '0'});
      check(columns_.back());
    }
    if (!has("pos")) lines_.fail("Properties has no pos:R:3");
    all_.has_velocities = has("velo");
    all_.has_forces = has("forces");
  }
  /// One name for what programs call differently.
  static std::string settled(const std::string& name) {
    if (name == "vel" || name == "velocities" || name == "velocity") return "velo";
    return name == "force" ? "forces" : name;
  }
  bool has(std::string_view name) const {
    return std::ranges::find(columns_, name, &Column::name) != columns_.end();
  }
  void check(const Column& column) const {
    const bool vector = column.name == "pos" || column.name == "velo" || column.name == "forces";
    if ((vector && column.width != 3) || (column.name == "id" && column.width != 1))
      lines_.fail("the property '" + column.name + "' has " + std::to_string(column.width) +
                  " columns, not " + (vector ? "3" : "1"));
  }

  void state(const Keys& keys) {
    if (!all_.has_velocities || !all_.has_forces)
      lines_.fail("a run goes on from velocities and forces; they are missing");
    RunState state;
    const auto value = [&](const char* key) { return numbers<1>(keys, std::string("lj_fluid_") + key)[0]; };
    const auto whole = [&](const char* key) {
      const double number = value(key);
      if (!(number >= 0 && number < 9e15) || number != static_cast<double>(static_cast<std::int64_t>(number)))
        lines_.fail(std::string("lj_fluid_") + key + " is not a whole number");
      return static_cast<std::int64_t>(number);
    };
    state.step = whole("step");
    Physics& p = state.physics;
    p.cutoff = value("cutoff"), p.dt = value("dt"), p.temperature = value("temperature"),
    p.gamma = value("gamma");
    p.skin = value("skin"), p.shifted = whole("shifted") != 0, p.langevin = whole("langevin") != 0;
    p.bonds = whole("bonds") != 0, p.exclusions = whole("exclusions") != 0;
    p.seed = static_cast<std::uint64_t>(whole("seed"));
    if (!(p.cutoff > 0 && p.dt > 0 && p.temperature >= 0 && p.gamma >= 0 && p.skin > 0))
      lines_.fail("the state of the run has numbers that are not positive");
    all_.state = state;
  }

  std::string name_;
  apps::Lines lines_;
  Configuration all_;
  std::vector<Column> columns_;
};

std::string text_of(const Vector& v) {
  return " " + apps::json_number(v[0]) + " " + apps::json_number(v[1]) + " " + apps::json_number(v[2]);
}

std::string state_text(const RunState& state) {
  const Physics& p = state.physics;
  const std::pair<const char*, double> values[] = {{"step", static_cast<double>(state.step)},
                                                   {"cutoff", p.cutoff},
                                                   {"shifted", p.shifted},
                                                   {"dt", p.dt},
                                                   {"langevin", p.langevin},
                                                   {"temperature", p.temperature},
                                                   {"gamma", p.gamma},
                                                   {"skin", p.skin},
                                                   {"seed", static_cast<double>(p.seed)},
                                                   {"bonds", p.bonds},
                                                   {"exclusions", p.exclusions}};
  std::string text;
  for (const auto& [key, value] : values)
    text += std::string(" lj_fluid_") + key + "=" + apps::json_number(value);
  return text;
}

}  // namespace

Configuration parse_xyz(const std::string& name, std::string_view text) { return Parser(name, text).parse(); }

Configuration read_configuration(const std::string& path) {
  const std::string text = apps::read_whole(path);
  return path.ends_with(".xyz") || path.ends_with(".extxyz") ? parse_xyz(path, text)
                                                             : parse_lammps(path, text);
}

std::string xyz_text(const Configuration& c) {
  std::string text = std::to_string(c.atoms.size()) + "\nLattice=\"";
  for (std::size_t i = 0; i < 9; ++i)
    text += (i > 0 ? " " : "") + (i % 4 == 0 ? apps::json_number(c.upper[i / 4] - c.lower[i / 4]) : "0");
  text +=
      "\" Origin=\"" + text_of(c.lower).substr(1) + "\" pbc=\"T T T\" Properties=species:S:1:id:I:1:pos:R:3";
  if (c.has_velocities) text += ":velo:R:3";
  if (c.has_forces) text += ":forces:R:3";
  if (c.state) text += state_text(*c.state);
  text += "\n";
  for (const Atom& atom : c.atoms) {
    text += "Ar " + std::to_string(atom.identity) + text_of(atom.position);
    if (c.has_velocities) text += text_of(atom.velocity);
    if (c.has_forces) text += text_of(atom.force);
    text += "\n";
  }
  return text;
}

}  // namespace lj_fluid
