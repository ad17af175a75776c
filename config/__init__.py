"""Settings, their default file, and personas."""
