"""Profiles beside a run's log, in words."""

from dataclasses import replace

from core.runs.limits import Limits
from core.trace.profile import MOST_PROFILE_BYTES
from core.views.timeline import most_bytes


def test_a_profile_may_be_as_large_as_uploads_and_profiles_may_be() -> None:
    assert most_bytes(Limits()) == MOST_PROFILE_BYTES
    assert most_bytes(replace(Limits(), upload_bytes=5)) == 5
