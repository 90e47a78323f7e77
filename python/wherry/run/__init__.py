"""`wherry run` and `wherry info`: MPI installations, settings, launches, and the summary of a run."""
