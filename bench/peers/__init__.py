"""Kaijuan beside other libraries: one file a system, one protocol, every system in a process and an environment of its
own."""
