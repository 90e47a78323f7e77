#include <doctest/doctest.h>

#include <string>

#include "lcc/graph_files.hpp"
#include "support/lines.hpp"

using namespace lcc;

namespace {

EdgeList parsed(const std::string& format, const std::string& text) {
  for (const GraphFormat& f : graph_formats())
    if (f.name == format) return f.parse("f", text);
  FAIL("no such format");
  return {};
}

std::string problem(const std::string& format, const std::string& text) {
  try {
    parsed(format, text);
  } catch (const apps::input_error& error) {
    return error.what();
  }
  return "";
}

struct Damaged {
  std::string format, text, message;
};

}  // namespace

TEST_CASE("lcc: edge lists, with comments, weights and any blanks") {
  const EdgeList graph = parsed("edge-list", "# a b\n% c\n0 1\n\n  5\t2 0.25\r\n1,0\n7 7");
  CHECK(graph.vertices == 8);
  CHECK(graph.edges == std::vector<Edge>{{0, 1}, {5, 2}, {1, 0}, {7, 7}});
  CHECK(parsed("edge-list", "").vertices == 0);
}

TEST_CASE("lcc: Matrix Market files of every field") {
  const std::string entries = "% comment\n3 3 2\n1 2";
  CHECK(parsed("matrix-market", "%%MatrixMarket matrix coordinate pattern symmetric\n" + entries + "\n3 1\n")
            .edges == std::vector<Edge>{{0, 1}, {2, 0}});
  CHECK(parsed("matrix-market", "%%matrixmarket MATRIX Coordinate Real general\n" + entries + " 1e-3\n3 1 -2")
            .edges == std::vector<Edge>{{0, 1}, {2, 0}});
  CHECK(parsed("matrix-market",
               "%%MatrixMarket matrix coordinate complex hermitian\n" + entries + " 1 0\n3 1 2 3")
            .vertices == 3);
}

TEST_CASE("lcc: METIS files with and without weights") {
  const std::vector<Edge> triangle_and_one = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
  CHECK(parsed("metis", "% c\n4 3\n2 3\n1 3\n% in between\n1 2\n\n").edges == triangle_and_one);
  CHECK(parsed("metis", "4 3\n2 3\n1 3\n1 2\n\n").vertices == 4);
  CHECK(parsed("metis", "4 3\n2 3\n3 1\n2 1\n\n\n% behind the last\n \n").vertices == 4);
  CHECK(parsed("metis", "4 3 1\n2 9 3 9\n1 9 3 9\n1 9 2 9\n\n").edges == triangle_and_one);
  CHECK(parsed("metis", "4 3 011 2\n8 8 2 9 3 9\n8 8 1 9 3 9\n8 8 1 9 2 9\n8 8\n").edges == triangle_and_one);
  CHECK(parsed("metis", "4 3 100\n5 2 3\n5 1 3\n5 1 2\n5\n").edges == triangle_and_one);
}

TEST_CASE("lcc: damaged files give line and reason") {
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n";
  const Damaged all[] = {
      {"edge-list", "0 1\n2\n", "f, line 2: the second vertex is missing"},
      {"edge-list", "# c\n\n0 x",
       "f, line 3: the second vertex 'x' is not a whole number from 0 to 2147483647"},
      {"edge-list", "-1 0", "f, line 1: the first vertex '-1' is not a whole number"},
      {"edge-list", "99999999999999999999 0", "f, line 1: the first vertex '99999999999999999999' is not"},
      {"matrix-market", "", "f, line 0: a Matrix Market file begins with %%MatrixMarket"},
      {"matrix-market", "1 1 1", "f, line 1: a Matrix Market file begins with %%MatrixMarket"},
      {"matrix-market", "%%MatrixMarket vector", "f, line 1: the object is not a matrix"},
      {"matrix-market", "%%MatrixMarket matrix array real general\n", "f, line 1: the matrix is dense"},
      {"matrix-market", "%%MatrixMarket matrix coordinate quaternion general\n",
       "f, line 1: the field 'quaternion'"},
      {"matrix-market", head + "% c\n", "f, line 2: the line with the numbers of rows"},
      {"matrix-market", head + "3 4 1\n1 1\n", "f, line 2: a graph has as many rows as columns, not 3 x 4"},
      {"matrix-market", head + "3 3 1\n4 1\n", "f, line 3: the row '4' is not a whole number from 1 to 3"},
      {"matrix-market", head + "3 3 1\n1 1 7\n", "f, line 3: '7' stands where the line should end"},
      {"matrix-market", head + "3 3 1\n1 1\n1 2\n", "f, line 4: there are more entries than the 1"},
      {"matrix-market", head + "3 3 2\n1 1\n", "f, line 3: the file ends after 1 of 2 entries"},
      {"metis", "", "f, line 0: the line with the numbers of vertices and edges is missing"},
      {"metis", "2 1 2\n2\n1\n", "f, line 1: the format '2' is not made of at most three digits 0 and 1"},
      {"metis", "2 1\n2\n", "f, line 2: the file ends after 1 of 2 vertices"},
      {"metis", "2 1\n3\n1\n", "f, line 2: the neighbor '3' is not a whole number from 1 to 2"},
      {"metis", "2 1 1\n2\n1 5\n", "f, line 2: the weight of the edge is missing"},
      {"metis", "3 1\n2\n3\n\n",
       "f, line 2: vertex 1 has the neighbor 2, but vertex 2 lacks the neighbor 1; list each edge at "
       "both"},
      {"metis", "% c\n3 2 1\n2 9\n1 9 3 9\n% c\n1 9\n", "f, line 4: vertex 2 has the neighbor 3, but"},
      {"metis", "2 1\n2\n\n", "f, line 2: vertex 1 has the neighbor 2, but vertex 2 lacks"},
      {"metis", "2 1\n2\n1\n\n% c\n1\n",
       "f, line 6: there are more lines than the 2 vertices that the file announces"},
      {"metis", "0 0\n\n1\n", "f, line 3: there are more lines than the 0 vertices"},
      {"metis", "2 0\n2\n1\n", "f, line 3: the lists have 2 neighbors, but 0 edges have two each"},
      {"metis", "2 2\n2\n1\n", "f, line 3: the lists have 2 neighbors, but 2 edges have two each"},
  };
  for (const auto& [format, text, message] : all) {
    CAPTURE(text);
    CHECK(problem(format, text).substr(0, message.size()) == message);
  }
}

TEST_CASE("lcc: files that cannot be read say why") {
  CHECK_THROWS_WITH_AS(
      read_graph("/no/such/graph.mtx", ""),
      "cannot read '/no/such/graph.mtx': No such file or directory; name a file that can be read",
      apps::input_error);
  CHECK_THROWS_AS(read_graph("/", ""), apps::input_error);
}

TEST_CASE("lcc: what a message shows of a file is short and in ASCII") {
  CHECK(apps::shown("two") == "two");
  CHECK(apps::shown(std::string("\x7f"
                                "ELF\0\xc3\xa9",
                                7)) == "\\x7fELF\\x00\\xc3\\xa9");
  CHECK(apps::shown(std::string(41, 'x')) == std::string(40, 'x') + "...");
}
