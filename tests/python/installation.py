"""An installation whose preload does nothing and whose wherry-plan has fixed answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PLAN = """#!{python}
import json, sys
words = sys.argv[1:]
if words[0] == "strategies":
    rows = [("direct", "alltoall"), ("mesh", "alltoall"), ("bruck2", "alltoall"), ("ring", "allreduce")]
    print(json.dumps([{{"name": n, "summary": n, "operations": [o]}} for n, o in rows]))
elif nearest := [right for wrong, right in (("altoall", "alltoall"), ("mehs", "mesh")) if wrong in words]:
    print(f"wherry-plan: unknown name; did you mean '{{nearest[0]}}'?", file=sys.stderr)
    sys.exit(2)
elif words[0] == "explain":
    def row(name, seconds, messages):
        return {{"name": name, "summary": f"how {{name}} works", "seconds": seconds, "messages": messages,
                "messages_between": messages // 2, "bytes": 4096, "bytes_between": 2048, "copied_bytes": 0,
                "staging_bytes": 512, "phases": 2}}
    print(json.dumps({{"op": words[2], "ranks": int(words[4]), "nodes": 2, "block_bytes": int(words[-1]),
                      "node_sizes": [12, 12], "tried": ["native", "mesh", "direct"],
                      "candidates": [row("direct", 2e-4, 23), row("mesh", 1e-4, 8)],
                      "priced_by": {{"fitted_with": "", "fitted": []}},
                      "not_applicable": [{{"name": "hypercube", "why": "24 is no power of two"}}]}}))
elif words[0] == "draw":
    print("<svg xmlns='x'></svg>" if words[-1] == "svg" else "phase 0: 0 -> 1")
elif words[0] == "verify":
    print("[]")
"""


def make_installation(prefix: Path) -> Path:
    """Needs a C compiler."""
    for folder in ("lib/wherry", "bin"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "a.c").write_text("int wherry_nothing;\n")
    library = prefix / "lib/wherry/libwherry.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, prefix / "a.c"], check=True)
    plan = prefix / "bin/wherry-plan"
    plan.write_text(_PLAN.format(python=sys.executable))
    plan.chmod(0o755)
    return prefix
