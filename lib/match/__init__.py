"""Events -> numbers -> values -> leaves -> levels -> matches: rows are matched against a version of an index."""
