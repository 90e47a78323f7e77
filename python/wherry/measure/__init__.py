"""What benchmarks and studies share: setup, launches, samples and the records of results."""
