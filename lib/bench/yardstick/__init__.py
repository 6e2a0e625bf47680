"""The yardstick: the paper's A-Tree matching in C++, one event at a time on one core, compiled on demand."""
