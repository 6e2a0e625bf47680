-- One row is an expression in a version: the ten latest that can be read, up to the one the views were made for.
{versions_of_expressions}
