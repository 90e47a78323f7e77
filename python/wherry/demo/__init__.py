"""`make demo`: real programs with and without Wherry; answers are compared first, then times."""
