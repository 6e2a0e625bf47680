"""From an expression tree to its negation-free canonical nodes. Knows nothing of Spark."""
