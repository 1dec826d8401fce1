"""Forty tasks for coding agents, their checks, and the table of what agents solved."""
