"""Owner of the process at the other end of a connection, as the kernel reports it for processes on this machine.

Linux's socket diagnosis (`sock_diag(7)`) finds one connection directly. If it is not available, the code reads
`/proc/net/tcp` and `tcp6` (`proc_pid_net(5)`), which list all connections.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

Address = tuple[str, int]
Ip = IPv4Address | IPv6Address

ESTABLISHED = 1
# The kernel's name for a user that does not exist in this process's namespace.
OVERFLOW_UID = 65_534
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ANSWER_LIMIT_S = 0.2
# Offsets in struct inet_diag_msg of linux/inet_diag.h, after the header of 16 bytes: the state; uid and inode.
STATE_AT, UID_AT = 16 + 1, 16 + 64
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Socket:
    """The other end of a connection: its state, the user id of its process, and its inode (0 after it is closed)."""

    state: int
    uid: int
    inode: int

    @property
    def held(self) -> bool:
        """True if a process has the socket open; the kernel reports root as the owner of a socket without a process."""
        return self.state == ESTABLISHED and self.inode != 0


def uid_of(client: Address, server: Address) -> int | None:
    """Return the user id of the client's process; None if the kernel does not know it.

    The kernel may report root for a socket that is closed during the query. Closed sockets do not open again, so a
    socket that is open at a second query was open during the first.
    """
    first, second = _asked(client, server), _asked(client, server)
    if first is None or first != second or not first.held or first.uid == OVERFLOW_UID:
        return None
    return first.uid


def _asked(client: Address, server: Address) -> Socket | None:
    try:
        ends = (_plain(client[0]), client[1]), (_plain(server[0]), server[1])
    except ValueError:
        return None
    try:
        return _by_diagnosis(*ends)
    except OSError:
        return _by_table(*ends)


def _plain(host: str) -> Ip:
    """Return the address; an IPv4 address that an IPv6 socket reports becomes plain IPv4."""
    address = ip_address(host.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def _by_diagnosis(client: tuple[Ip, int], server: tuple[Ip, int]) -> Socket | None:
    """Query the socket diagnosis for one connection; None if it is not on this machine, OSError if the query fails."""
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError("no netlink here")
    family = socket.AF_INET if client[0].version == 4 else socket.AF_INET6
    ports = struct.pack("!HH", client[1], server[1])
    ends = client[0].packed.ljust(16, b"\0") + server[0].packed.ljust(16, b"\0")
    anything = struct.pack("=III", 0, 2**32 - 1, 2**32 - 1)
    question = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 0, 1 << ESTABLISHED) + ports + ends + anything
    header = struct.pack("=IHHII", 16 + len(question), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(ANSWER_LIMIT_S)
        kernel.send(header + question)
        answer = kernel.recv(4096)
    return _read_diagnosis(answer)


def _read_diagnosis(answer: bytes) -> Socket | None:
    """Return the socket in the kernel's answer; None for "no such connection", OSError for other errors."""
    (kind,) = struct.unpack_from("=H", answer, 4)
    if kind == SOCK_DIAG_BY_FAMILY:
        return Socket(answer[STATE_AT], *struct.unpack_from("=II", answer, UID_AT))
    (error,) = struct.unpack_from("=i", answer, 16)
    if -error == errno.ENOENT:
        return None
    raise OSError(-error, os.strerror(-error))


def _by_table(client: tuple[Ip, int], server: tuple[Ip, int], tables: tuple[str, ...] = TABLES) -> Socket | None:
    """Search the tables of all connections for one."""
    wanted = _spellings(client, server)
    return next((found for *ends, found in _rows(tables) if tuple(ends) in wanted), None)


def _rows(tables: tuple[str, ...]) -> Iterator[tuple[str, str, Socket]]:
    for table in tables:
        try:
            lines = Path(table).read_text(encoding="ascii", errors="replace").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 9:
                yield fields[1], fields[2], Socket(int(fields[3], 16), int(fields[7]), int(fields[9]))


def _spellings(client: tuple[Ip, int], server: tuple[Ip, int]) -> set[tuple[str, str]]:
    """Return both ends in the form of the tables; IPv4 also in the form of an IPv6 socket."""
    ends = {(_hex(*client), _hex(*server))}
    if client[0].version == server[0].version == 4:
        ends.add((_hex(_mapped(client[0]), client[1]), _hex(_mapped(server[0]), server[1])))
    return ends


def _mapped(address: Ip) -> Ip:
    return IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed)


def _hex(address: Ip, port: int) -> str:
    """Format an address like the kernel: words of 32 bits in the machine's byte order."""
    packed = address.packed
    words = (int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4))
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
