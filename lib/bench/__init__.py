"""Workloads of the papers and the benchmark."""
