"""The Python API: MPI's collectives on NumPy arrays. `wherry` has its public names."""
