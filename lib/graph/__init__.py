"""The nodes of an index as a GraphFrame, and what graph algorithms say of it. An extra: banyan-spark[graph]."""
