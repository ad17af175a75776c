"""Keepmind's core: a message in, a reply out, and a memory between them."""
