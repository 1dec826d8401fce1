"""Child process that runs dot: reads DOT on standard input, and writes a format to standard output.

In both directions, a message is its length in bytes on a line, then the bytes. An empty message means that
the process is ready. The process is started by path, so that it imports nothing but pygraphviz, and ends when
its input ends. A separate process is needed because pygraphviz holds the GIL during the layout and has no
time limit: only a process can be killed.
"""

import sys

import pygraphviz  # type: ignore[import-untyped, unused-ignore]


def main() -> None:
    """Lay out graphs one after another, in the format that is the argument."""
    say(b"")
    while header := sys.stdin.buffer.readline():
        text = sys.stdin.buffer.read(int(header)).decode()
        graph = pygraphviz.AGraph(string=text)
        say(graph.draw(format=sys.argv[1], prog="dot"))


def say(answer: bytes) -> None:
    """Write one message."""
    sys.stdout.buffer.write(b"%d\n%b" % (len(answer), answer))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
