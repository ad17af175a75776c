"""One foreign thing each: platforms, models, databases, clocks."""
