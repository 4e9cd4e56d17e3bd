"""The demo, which is run once for the tests of its page and for those of its chapters."""

import pytest


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    from protolearn.cli._demo import run_demo
    from protolearn.cli._sections import QUICK

    return run_demo(tmp_path_factory.mktemp("demo") / "new" / "folder", effort=QUICK)
