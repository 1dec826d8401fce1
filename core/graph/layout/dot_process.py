"""The child process that runs dot: DOT texts on standard input, Graphviz's JSON on standard output, until the input
ends.

Each way a message is its length in bytes on a line, then the bytes; an empty one says that the process is ready. It is
started by path, so that it imports nothing but pygraphviz. It is a process of its own because pygraphviz holds the GIL
while it lays out and has no time limit: only a process can be killed.
"""

import sys

import pygraphviz  # type: ignore[import-untyped, unused-ignore]


def main() -> None:
    """Lay out one graph after the other."""
    say(b"")
    while header := sys.stdin.buffer.readline():
        text = sys.stdin.buffer.read(int(header)).decode()
        graph = pygraphviz.AGraph(string=text)
        say(graph.draw(format="json0", prog="dot"))


def say(answer: bytes) -> None:
    """Write one message."""
    sys.stdout.buffer.write(b"%d\n%b" % (len(answer), answer))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
