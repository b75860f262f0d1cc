"""How well the checker of claims does its work, on pairs of claim and evidence made from real sentences."""
