"""What the strict test servers of the platforms are made of alike."""
