"""The child process that runs dot: DOT text on standard input, Graphviz's JSON on standard output.

It is started by path, so that it imports nothing but pygraphviz. It is a process of its own because pygraphviz holds
the GIL while it lays out and has no time limit: only a process can be killed.
"""

import sys

import pygraphviz  # type: ignore[import-untyped, unused-ignore]


def main() -> None:
    """Lay out the one graph on standard input."""
    graph = pygraphviz.AGraph(string=sys.stdin.read())
    sys.stdout.buffer.write(graph.draw(format="json0", prog="dot"))


if __name__ == "__main__":
    main()
