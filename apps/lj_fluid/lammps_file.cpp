// LAMMPS's data files: a line that is skipped, lines of the header in any order, sections in any order.
#include <algorithm>
#include <array>

#include "lj_fluid/atom_reader.hpp"

namespace lj_fluid {
namespace {

/// Words of a line of the section Atoms between the identity and the position.
struct Style {
  std::string_view name;
  std::size_t words_between;
};
constexpr Style styles[] = {{"atomic", 1},    {"bond", 2},   {"angle", 2},
                            {"molecular", 2}, {"charge", 2}, {"full", 3}};

/// A line without its comment, as words.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t begin = 0;;) {
    begin = line.find_first_not_of(blanks, begin);
    if (begin == line.npos) return words;
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
}

class Parser {
 public:
  Parser(const std::string& name, std::string_view text) : lines_(name, text), atoms_(lines_, all_) {}

  Configuration parse() {
    if (!lines_.next()) lines_.fail_at(1, "the file is empty; give one that read_data of LAMMPS reads");
    while (next()) {
      if (is_section(words_.front())) section();
      else header();
    }
    if (!count_) lines_.fail("no line says how many atoms there are; write 'N atoms'");
    if (all_.atoms.size() != *count_)
      lines_.fail("there are " + std::to_string(all_.atoms.size()) + " atoms, but the header says " +
                  std::to_string(*count_));
    return std::move(all_);
  }

 private:
  /// The next line that is not empty.
  bool next() {
    while (lines_.next()) {
      words_ = words_of(lines_.rest());
      if (!words_.empty()) return true;
    }
    return false;
  }

  static bool is_section(std::string_view word) { return word.front() >= 'A' && word.front() <= 'Z'; }

  void header() {
    static constexpr std::array<std::string_view, 3> axes = {"xlo", "ylo", "zlo"};
    if (words_.size() == 2 && words_[1] == "atoms")
      count_ = lines_.number<std::uint64_t>("number of atoms", 1, AtomReader::most_atoms);
    else if (words_.size() == 4 && std::ranges::find(axes, words_[2]) != axes.end()) {
      const auto axis = static_cast<std::size_t>(std::ranges::find(axes, words_[2]) - axes.begin());
      all_.lower[axis] = atoms_.real("lower bound of the box");
      all_.upper[axis] = atoms_.real("upper bound of the box");
      boxed_[axis] = true;
    } else if (words_.size() == 6 && words_[3] == "xy")
      lines_.fail("the box is not rectangular; give one without tilt");
    else if (words_.size() < 2 || words_[0].find_first_not_of("0123456789") != std::string_view::npos)
      lines_.fail(
          "'" + apps::shown(words_.front()) +
          "' begins neither a line of the header nor a section; see read_data in the manual of LAMMPS");
    else if (std::string(words_.back()) != "types" && words_.front() != "0")
      lines_.fail("'" + apps::shown(words_.back()) + "' are not supported; give a file with atoms alone");
  }

  void section() {
    const std::string name(words_.front());
    if (name == "Atoms") atoms(style());
    else if (name == "Velocities") velocities();
    else if (name == "Masses") masses();
    else if (name == "Pair" || name == "PairIJ") skip_until_section();
    else
      lines_.fail("the section '" + apps::shown(name) +
                  "' is not supported (have: Atoms, Masses, Pair Coeffs, Velocities)");
  }

  /// Of the comment behind 'Atoms'; atomic if there is none.
  const Style& style() {
    const std::string_view line = lines_.rest();
    const std::size_t sign = line.find('#');
    if (sign == line.npos) return styles[0];
    const auto words = words_of(line.substr(sign + 1));
    const auto found =
        std::ranges::find(styles, words.empty() ? styles[0].name : words.front(), &Style::name);
    if (found == std::end(styles))
      lines_.fail("the style of atoms '" + apps::shown(words.front()) + "' is not known");
    return *found;
  }

  void expect_line(const char* section) {
    if (!next()) lines_.fail(std::string("the section ") + section + " ends too early");
  }
  void check_header() {
    if (!count_ || !boxed_[0] || !boxed_[1] || !boxed_[2])
      lines_.fail("a section comes before the number of atoms and the bounds of the box are known");
    atoms_.check_box();
  }

  void atoms(const Style& style) {
    check_header();
    if (!all_.atoms.empty()) lines_.fail("the section Atoms is there twice");
    for (std::uint64_t i = 0; i < *count_; ++i) {
      expect_line("Atoms");
      Atom atom;
      atom.identity = atoms_.identity();
      for (std::size_t skipped = 0; skipped < style.words_between; ++skipped)
        if (lines_.word().empty()) lines_.fail("the position is missing");
      atom.position = atoms_.vector("coordinate");
      atoms_.add(atom);
    }
  }
  void velocities() {
    check_header();
    for (std::uint64_t i = 0; i < *count_; ++i) {
      expect_line("Velocities");
      const std::uint64_t identity = atoms_.identity();
      atoms_.at(identity).velocity = atoms_.vector("velocity");
    }
    all_.has_velocities = true;
  }
  /// All particles have the mass 1.
  void masses() {
    expect_line("Masses");
    do {
      if (is_section(words_.front())) return section();
      lines_.word();
      if (lines_.number<double>("mass", 0, AtomReader::farthest) != 1)
        lines_.fail("the mass is not 1; scale units so that it is");
    } while (next());
  }
  void skip_until_section() {
    while (next())
      if (is_section(words_.front())) return section();
  }

  apps::Lines lines_;
  Configuration all_;
  AtomReader atoms_;
  std::vector<std::string_view> words_;
  std::optional<std::uint64_t> count_;
  std::array<bool, 3> boxed_{};
};

}  // namespace

Configuration parse_lammps(const std::string& name, std::string_view text) {
  return Parser(name, text).parse();
}

}  // namespace lj_fluid
