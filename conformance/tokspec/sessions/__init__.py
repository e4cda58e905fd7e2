"""Sessions with an implementation: in this process, in a program, in a pool of programs; and the server that makes
a program of an adapter in Python.
"""
