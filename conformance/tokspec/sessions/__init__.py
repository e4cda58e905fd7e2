"""Sessions with an implementation in this process, in a program or in a pool of programs.

``adapter_server`` turns an adapter in Python into a program.
"""
