"""Evaluation of answers: what is asked, what came, and how right, supported and honest it is."""
