"""`python -m bench.peers` is bench.peers.run."""

from bench.peers.run import main

main()
