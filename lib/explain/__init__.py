"""Why an expression matched an event, or did not."""
