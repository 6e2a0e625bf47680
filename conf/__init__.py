"""Settings that Banyan ships."""
