"""The site in a real browser: no errors, no requests, the controls work, contrast holds, nothing hostile runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

#: One page of each kind, and those of the implementation that does harm.
KINDS = ["index", "choices", "clauses", "case/bpe-toy-encode-mug", "clause/BPE-ENC-6", "spec/08-choices", "spec/errata"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "needs chromium; name it in CHROMIUM"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    opened.problems, opened.requested = [], []
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("request", lambda request: opened.requested.append(request.url))
    yield opened
    context.close()


def address(site: Path, name: str) -> str:
    return (site / f"{name}.html").as_uri()


def kinds(site: Path) -> list[str]:
    return [*KINDS, *(f"implementation/{file.stem}" for file in site.glob("implementation/*.html"))]


def test_every_page_opens_without_an_error_or_a_foreign_request(site: Path, page: Any) -> None:
    own = site.as_uri()
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        assert page.title() != "owned", file
    assert page.problems == []
    assert [url for url in page.requested if not url.startswith((own, "data:,"))] == []


#: The table of the suite's cases; that of real vocabularies stands below it.
SUITE = "[aria-label='Results of all implementations']"


def test_filters_leave_the_rows_that_fit(site: Path, page: Any) -> None:
    page.goto(address(site, "index"))
    assert page.inner_text("#count") == "3 of 3 implementations"
    page.fill("[data-filter=name]", "tokf")
    assert page.inner_text("#count") == "1 of 3 implementations"
    assert page.locator(f"{SUITE} tbody tr:visible th").all_inner_texts() == ["tokfast 0.1.0"]
    page.fill("[data-filter=name]", "")
    page.select_option("[data-filter=language]", "Python")
    assert page.inner_text("#count") == "2 of 3 implementations"


def test_columns_sort_by_click_and_by_key(site: Path, page: Any) -> None:
    page.goto(address(site, "index"))
    passed = f"{SUITE} thead th:nth-child(3)"

    def order() -> list[int]:
        return [int(text) for text in page.locator(f"{SUITE} tbody td:nth-child(3)").all_inner_texts()]

    page.click(f"{passed} button")
    assert page.get_attribute(passed, "aria-sort") == "descending"
    assert order() == sorted(order(), reverse=True)
    page.focus(f"{passed} button")
    page.keyboard.press("Enter")
    assert page.get_attribute(passed, "aria-sort") == "ascending"
    assert order() == sorted(order())


def test_the_keyboard_reaches_a_case_from_the_front(site: Path, page: Any) -> None:
    page.goto(address(site, "index"))
    page.focus(f"{SUITE} tbody tr:nth-child(2) a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/implementation/*")
    page.click("header a:has-text('clauses and cases')")
    page.click("a:text-is('BPE-ENC-6')")
    page.click("a:text-is('bpe-toy-encode-mug')")
    assert page.inner_text("h1") == "bpe-toy-encode-mug"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_pages_are_accessible_and_fit(site: Path, browser: Any, scheme: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = context.new_page()
    for name in kinds(site):
        opened.goto(address(site, name))
        opened.add_script_tag(path=str(AXE))
        found = opened.evaluate(
            "async () => (await axe.run()).violations.map(v => [v.id, v.nodes[0].html.slice(0, 200)])"
        )
        assert found == [], (name, scheme, width)
        overflow = opened.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, (name, scheme, width)
    context.close()


def test_without_scripts_the_table_is_there(site: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(address(site, "index"))
    assert opened.locator(f"{SUITE} tbody tr").count() == 3
    context.close()
