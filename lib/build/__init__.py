"""From expression texts to the rows of an index: unique nodes, sharing, levels, access children, use counts."""
