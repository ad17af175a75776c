"""Spending: what the model may cost, and what is done near the end of a budget."""
