"""The processes of a test run: what shares a dear fixture is in one of them."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="the tests run in one process")
def test_tests_go_to_processes_in_groups(request: pytest.FixtureRequest) -> None:
    """pytest-xdist 3.8 cannot name the groups to pytest 9.2, and says nothing of it."""
    assert request.node.nodeid.endswith("@tests/house/test_parallel.py")
