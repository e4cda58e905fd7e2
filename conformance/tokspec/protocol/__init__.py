"""The protocol of ``spec/10-protocol.md``: JSON values and lines, ``hello``, requests and replies."""
