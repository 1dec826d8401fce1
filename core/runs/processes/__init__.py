"""Processes of this machine: their handles, the addresses of servers, and bounded readers of files."""
