"""Ray as the transport to hosts; each node of the cluster runs one host."""

from importlib.util import find_spec

from core.base.errors import SettingError
from core.base.machine import own_module, own_process
from core.runs.engine.cluster.bridge import BridgeTransport
from core.runs.store import Store

FORM = "ray://HOST:PORT"
HOSTS = "core.runs.engine.cluster.ray_host"
MISSING = (
    "the engine is a Ray cluster, but Ray is not installed: `make extra EXTRA=ray`, or pip install 'compileboard[ray]'"
)


class RayTransport(BridgeTransport):
    """Hosts on the nodes of a Ray cluster at `address`, `ray://HOST:PORT`.

    After a restart of the cluster, the earlier hosts do not answer, but do not count as lost: a host can return,
    with its files, on a new node of the same machine. Each node calls `make_host` of the module `hosts`. Raises
    SettingError if Ray is not installed.
    """

    def __init__(self, address: str, code_allowed: bool = True, hosts: str = HOSTS) -> None:
        if find_spec("ray") is None:
            raise SettingError(MISSING)
        permitted = "code" if code_allowed else "samples"
        command = own_process("core.runs.engine.cluster.ray_bridge", address, permitted, own_module(hosts))
        super().__init__("ray", f"the Ray cluster at {address}", command, keeps_earlier=True)


def transport(address: str, store: Store, code_allowed: bool) -> RayTransport:
    """Return the transport of an engine's address."""
    return RayTransport(address, code_allowed)
