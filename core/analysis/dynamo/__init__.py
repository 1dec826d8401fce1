"""Analyses of Dynamo's work: frames, guards, recompiles, graph breaks, symbols, bytecode."""
