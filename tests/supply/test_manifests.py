"""The manifests of docs/cluster.md, as kubectl reads them without a cluster."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.support.places import ROOT

MANIFESTS = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs/cluster.md").read_text(encoding="utf-8"), re.M | re.S)


def fields(value: Any, path: str = "") -> Iterator[str]:
    """Every field of a manifest, by its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{path}.{name}"
            yield from fields(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from fields(inner, f"{path}[{place}]")


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl")
@pytest.mark.parametrize("manifest", MANIFESTS, ids=["Deployment", "Job"])
def test_kubectl_reads_every_field_of_a_manifest(manifest: str) -> None:
    command = ["kubectl", "set", "env", "--local", "--dry-run=client", "-f", "-", "-o", "json", "ADDED=1"]
    read = subprocess.run(command, input=manifest.encode(), capture_output=True, check=True).stdout
    assert set(fields(yaml.safe_load(manifest))) - set(fields(json.loads(read))) == set()
