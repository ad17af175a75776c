"""Text: what holds of any words, whoever said them: letters, languages, tags in disguise, chunks."""
