"""A real browser for pages: any Chromium on this machine, driven by Playwright, offline."""

import os
import shutil
from types import SimpleNamespace

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
REQUIRED = os.environ.get("PROTOLEARN_BROWSER") == "required"


def chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser():
    if not REQUIRED:
        pytest.importorskip("playwright")
        if chromium() is None:
            pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Open pages without a network, and require at the end that none of them wrote an error to the console."""
    contexts, errors = [], []

    def visit(path, width=1400, height=1000, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or errors.append(request.url)
        )
        page.goto(f"file://{path}")
        page.wait_for_selector("main > *")
        return page

    visit.errors = errors
    yield visit
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def spoken():
    """Return what a page has said, for tests of names that hold markup."""
    return SimpleNamespace(markup='<img src=x onerror="window.broken=1"><script>window.broken=1</script>&amp;')
