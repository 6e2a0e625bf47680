"""The demo: a year of real flights, alert rules over them, and a walk through what Banyan does with both."""
