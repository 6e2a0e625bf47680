"""The Delta tables of one index: where they are, how a version is published, how it is read."""
