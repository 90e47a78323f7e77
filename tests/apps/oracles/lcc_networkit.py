"""Local clustering coefficients by NetworKit: reads pairs of vertices from a file, prints a coefficient a line."""

import sys
from pathlib import Path

import networkit

path, vertices = sys.argv[1], int(sys.argv[2])
graph = networkit.Graph(vertices)
for line in Path(path).read_text().splitlines():
    a, b = (int(word) for word in line.split()[:2])
    graph.addEdge(a, b)
graph.removeSelfLoops()
graph.removeMultiEdges()
scores = networkit.centrality.LocalClusteringCoefficient(graph).run().scores()
sys.stdout.writelines(f"{score:.17g}\n" for score in scores)
