"""The site in a real browser: no errors, no requests, the controls work, contrast holds, nothing hostile runs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

#: One page of each kind, and those of the implementation that does harm.
KINDS = [
    "index",
    "chapters",
    "models/toy",
    "bugs",
    "choices",
    "clauses",
    "compare",
    "features",
    "case/bpe-toy-encode-mug",
    "clause/BPE-ENC-6",
    "spec/08-choices",
    "spec/errata",
]


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
    return [*KINDS, *(f"impl/{file.parent.name}/index" for file in site.glob("impl/*/index.html"))]


def test_every_page_opens_without_an_error_or_a_foreign_request(site: Path, page: Any) -> None:
    own = site.as_uri()
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        assert page.title() != "owned", file
    assert page.problems == []
    assert [url for url in page.requested if not url.startswith((own, "data:,"))] == []


#: The table of the suite's cases.
SUITE = "[aria-label='Results of all implementations']"


def test_filters_leave_the_rows_that_fit(site: Path, page: Any) -> None:
    page.goto(address(site, "chapters"))
    assert page.inner_text("#count") == "3 of 3 implementations"
    page.fill("[data-filter=name]", "tokf")
    assert page.inner_text("#count") == "1 of 3 implementations"
    assert page.locator(f"{SUITE} tbody tr:visible th").all_inner_texts() == ["tokfast 0.3.0"]
    page.fill("[data-filter=name]", "")
    page.select_option("[data-filter=language]", "Python")
    assert page.inner_text("#count") == "2 of 3 implementations"


def test_columns_sort_by_click_and_by_key(site: Path, page: Any) -> None:
    page.goto(address(site, "chapters"))
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


#: That of the libraries that load a model.
MODEL = "[aria-label='Libraries that load toy']"


def test_the_libraries_of_a_model_are_ranked_and_sort_by_key(site: Path, page: Any) -> None:
    page.goto(address(site, "models/toy"))
    ids = f"{MODEL} thead th:nth-child(2)"

    def shares() -> list[str]:
        return page.locator(f"{MODEL} tbody td:nth-child(2)").all_inner_texts()

    assert shares() == ["100 %", "99.96 %"]
    page.focus(f"{ids} button")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert (page.get_attribute(ids, "aria-sort"), shares()) == ("ascending", ["99.96 %", "100 %"])
    page.select_option("[data-filter=language]", "Python")
    assert page.locator(f"{MODEL} tbody tr:visible th").all_inner_texts() == ["tokfast 0.3.0"]
    assert page.inner_text("#count") == "1 of 2 libraries"


@pytest.mark.parametrize("name", ["index", "chapters"])
@pytest.mark.parametrize("width", [1200, 400])
def test_the_heads_of_a_table_stay_in_sight(site: Path, page: Any, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 110})
    page.goto(address(site, name))
    frame = page.locator(SUITE)
    frame.evaluate("frame => { frame.scrollTop = 1000; frame.scrollIntoView(); }")
    assert frame.evaluate("frame => frame.scrollTop") > 10
    for head in frame.locator("thead th:visible").all():
        assert abs(head.bounding_box()["y"] - frame.bounding_box()["y"]) <= 2
    row = frame.locator("tbody tr:last-child th")
    assert row.evaluate("row => getComputedStyle(row).position") == "sticky"


def hostile_page(site: Path) -> str:
    (file,) = site.glob("impl/script*/index.html")
    return f"impl/{file.parent.name}/index"


def test_the_failures_of_an_implementation_are_filtered(site: Path, page: Any) -> None:
    page.goto(address(site, hostile_page(site)))
    causes = page.locator("details[data-group]")
    total = int(page.inner_text("#count").split()[2])
    assert page.inner_text("#count") == f"{total} of {total} failing cases"
    assert causes.evaluate_all("all => all.filter(each => each.open).length") == 0
    names = "all => all.map(each => each.dataset.name)"
    every = page.locator("[data-name]").evaluate_all(names)
    page.fill("[data-filter=text]", every[0])
    left = page.locator("[data-name]:visible").evaluate_all(names)
    assert left == [name for name in every if every[0] in name]
    assert page.inner_text("#count") == f"{len(left)} of {total} failing cases"
    assert causes.locator("visible=true").count() <= len(left)
    page.fill("[data-filter=text]", "nosuchword")
    assert page.inner_text("#count") == f"0 of {total} failing cases"


def test_causes_open_and_close_together_by_key(site: Path, page: Any) -> None:
    page.goto(address(site, hostile_page(site)))
    opened = "all => [all.length, all.filter(each => each.open).length]"
    page.focus("#open")
    page.keyboard.press("Enter")
    every, open = page.locator("details[data-group]").evaluate_all(opened)
    assert every == open > 3
    page.keyboard.press("Enter")
    assert page.locator("details[data-group]").evaluate_all(opened) == [every, 0]


def test_a_cell_shows_the_failures_of_its_chapter(site: Path, page: Any) -> None:
    page.goto(address(site, "chapters"))
    page.click(f"{SUITE} tbody a[href^='impl/script'][href$='#04-bpe']")
    page.wait_for_url("**/impl/script*/**")
    page.wait_for_function("document.querySelector('[data-filter=chapter]').value === '04-bpe'")
    chapters = page.locator("[data-name]:visible").evaluate_all("all => all.map(each => each.dataset.chapter)")
    assert set(chapters) == {"04-bpe"}
    assert page.inner_text("#count").startswith(f"{len(chapters)} of ")
    page.click("tr[id='01-normalization'] a")
    page.wait_for_function("document.querySelector('[data-filter=chapter]').value === '01-normalization'")


def test_clauses_are_filtered_by_what_they_say(site: Path, page: Any) -> None:
    page.goto(address(site, "clauses"))
    page.fill("[data-filter=text]", "takes part in no merge unless the model has scores")
    assert page.locator("tr[data-name]:visible td:first-child a").all_inner_texts() == ["BPE-ENC-6"]
    assert page.locator("h2:visible").all_inner_texts() == ["bpe"]
    assert page.inner_text("#count").startswith("1 of ")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("llama 2 prompt", "prompt-llama-2"),
        ("unk fused", "bpe_unknown_run"),
        ("fused unknown tokens", "bpe_unknown_run"),
        ("streaming ctc", "ctc-stream"),
        ("lstrip", "flags of added tokens"),
        ("tokf", "tokfast 0.3.0"),
        ("toy", "toy"),
    ],
)
def test_whatever_has_the_words_is_found_from_each_page(site: Path, page: Any, words: str, found: str) -> None:
    page.goto(address(site, "case/bpe-toy-encode-mug"))
    page.fill("[role=search] input", words)
    page.keyboard.press("Enter")
    page.wait_for_url("**/clauses.html?text=*")
    assert page.input_value("[data-filter=text]") == words
    assert found in page.locator("[data-name]:visible a").all_inner_texts()


def test_a_word_is_found_from_its_beginning(site: Path, page: Any) -> None:
    page.goto(f"{address(site, 'clauses')}?text=fused")
    texts = page.locator("[data-name]:visible").all_text_contents()
    assert texts
    assert all(re.search(r"\bfuse", text.lower()) for text in texts)  # and not where it is refused


@pytest.mark.parametrize(
    ("name", "advice"), [("bugs", "No row has these"), ("clauses", "No rule and no case has all of these")]
)
def test_a_search_without_a_result_says_what_to_try(site: Path, page: Any, name: str, advice: str) -> None:
    page.goto(f"{address(site, name)}?text=xyzzy")
    nothing = page.locator("[data-nothing]")
    assert nothing.inner_text().startswith(f"{advice} words.")
    assert nothing.locator("[data-carries]").evaluate("link => link.search") == "?text=xyzzy"
    page.fill("[data-filter=text]", "")
    assert not nothing.is_visible()


def test_a_message_is_found_without_its_line_and_column(site: Path, page: Any) -> None:
    """Rows with the rare words of a message are shown, though no row has all; what is in camel case is several words."""
    page.goto(address(site, "bugs"))
    page.fill("[data-filter=text]", "no variant of the untagged enum ModelWrapper at line 757479 column 3")
    assert page.inner_text("[data-partly]") == "No row has all of these words; these rows fit best."
    assert page.locator("[data-name]:visible").count() == 1
    page.fill("[data-filter=text]", "untagged enum model wrapper")
    assert not page.locator("[data-partly]").is_visible()
    assert page.locator("[data-name]:visible").count() == 1


def test_two_are_set_beside_each_other(site: Path, page: Any) -> None:
    page.goto(f"{address(site, 'compare')}?a=tokref&b=tokfast")
    assert page.locator("#both tbody tr:visible").count() == 0
    sum = page.inner_text("#sum")
    asked, right = [int(number) for number in re.findall(r"[0-9]+", sum)[:2]]
    assert (
        sum
        == f"Both are asked {asked} cases: {right} both right, 0 only tokref 0.3.0, 0 only tokfast 0.3.0, 0 both wrong."
    )
    assert asked == right > 2000
    page.select_option("#show", "asked")
    assert page.locator("#both tbody tr:visible").count() == asked
    assert page.url.endswith("compare.html?a=tokref&b=tokfast&show=asked") or page.url.endswith(
        "compare.html?b=tokfast&show=asked"
    )
    hostile = hostile_page(site).split("/")[1]
    page.goto(f"{address(site, 'compare')}?a=tokref&b={hostile}")
    row = page.locator("#both tbody tr:visible").first
    assert row.locator("td").all_inner_texts()[1:] == ["pass", "wrong"]
    row.locator("td a").last.click()
    page.wait_for_url("**/case/*.html#answers")
    assert page.inner_text("h2#answers") == "What the libraries judged here answer"


def test_a_cell_of_a_feature_shows_what_fails_of_it(site: Path, page: Any) -> None:
    page.goto(address(site, "features"))
    page.fill("#feature", "byte fallback")
    page.click(
        "[aria-label='Features of all libraries'] tbody a[href^='impl/script'][href*='?feature=byte%20fallback']"
    )
    page.wait_for_url("**/impl/script*/**")
    assert page.input_value("[data-filter=feature]") == "byte fallback"
    shown = page.locator("[data-name]:not([hidden])").evaluate_all("all => all.map(each => each.dataset.feature)")
    assert shown
    assert all("byte fallback" in features.split("|") for features in shown)
    counts = page.locator("details[data-group]:not([hidden]) summary .soft").all_text_contents()
    assert sum(int(text.split()[0]) for text in counts) == len(shown)
    assert all(re.fullmatch("[0-9]+ of [0-9]+ cases?", text) for text in counts)


def test_the_front_page_filters_models_and_libraries(site: Path, page: Any) -> None:
    page.goto(address(site, "index"))
    models, libraries = page.locator(".models li:visible a"), page.locator(f"{SUITE} tbody tr:visible")
    assert (models.all_inner_texts(), libraries.count()) == (["other", "toy"], 2)
    page.fill("[data-filter=model]", "to")
    assert (models.all_inner_texts(), libraries.count()) == (["toy"], 2)
    page.reload()
    assert (page.input_value("[data-filter=model]"), models.all_inner_texts()) == ("to", ["toy"])
    page.fill("[data-filter=model]", "Our-Toy-8B")  # a name that is longer than the one that is recorded
    assert models.all_inner_texts() == ["toy"]
    page.fill("[data-filter=model]", "")
    page.select_option("[data-filter=language]", "Python")
    assert (models.all_inner_texts(), libraries.count()) == (["toy"], 1)
    assert models.first.get_attribute("href") == f"{address(site, 'models/toy')}?language=Python"
    page.fill("[data-filter=library]", "tokf")  # the suite's own is not ranked
    assert (models.all_inner_texts(), libraries.count()) == (["toy"], 0)
    nothing = page.locator("[data-nothing]")
    assert not nothing.is_visible()
    page.fill("[data-filter=model]", "llama")
    assert nothing.inner_text().startswith("No recorded model fits.")


def test_the_keyboard_reaches_a_case_from_the_front(site: Path, page: Any) -> None:
    page.goto(address(site, "index"))
    page.focus(f"{SUITE} tbody tr:nth-child(2) a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/impl/**")
    page.click("header a:has-text('clauses and cases')")
    page.click("a:text-is('BPE-ENC-6')")
    page.click("a:text-is('bpe-toy-encode-mug')")
    assert page.inner_text("h1") == "bpe-toy-encode-mug"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
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
    assert opened.locator(f"{SUITE} tbody tr").count() == 2
    assert opened.locator(".filters:visible").count() == 0
    context.close()


#: What is asked, the clicks from the front page that answer it, at most three, and where the answer stands.
QUESTIONS = {
    "What can the library do?": (
        ["main a:text-is('by feature')"],
        "[aria-label='Features of all libraries'] tbody tr",
    ),
    "What is wrong in its BPE?": (
        ["main a:text-is('by chapter and profile')", f"{SUITE} tbody a[href^='impl/script'][href$='#04-bpe']"],
        "details[data-group]:not([hidden]) summary",
    ),
    "Which library is right for my model?": ([".models a:text-is('toy')"], f"{MODEL} tbody tr"),
    "What differs between two libraries?": (["main a:text-is('two libraries side by side')"], "#sum"),
    "Which rule is about merges, and who breaks it?": (
        ["header a:text-is('clauses and cases')", "a:text-is('BPE-ENC-3')"],
        "h2:text-is('Who fails it')",
    ),
    "What does everybody answer to a case?": (
        ["header a:text-is('clauses and cases')", "a:text-is('BPE-ENC-6')", "a:text-is('bpe-toy-encode-mug')"],
        "h2:text-is('What the libraries judged here answer')",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_in_three_clicks_and_has_an_address(site: Path, browser: Any, question: str) -> None:
    clicks, answer = QUESTIONS[question]
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.goto(address(site, "index"))
    for click in clicks:
        opened.locator(click).first.click()
        opened.wait_for_load_state()
    opened.locator(answer).first.wait_for(state="visible")
    said = opened.locator(answer).first.inner_text()
    again = context.new_page()
    again.goto(opened.url)
    again.locator(answer).first.wait_for(state="visible")
    assert again.locator(answer).first.inner_text() == said
    assert len(clicks) <= 3
    context.close()


def test_paper_has_the_tables_and_no_controls(site: Path, page: Any) -> None:
    page.goto(address(site, "index"))
    page.emulate_media(media="print")
    assert page.locator(f"{SUITE} tbody tr:visible").count() == 2
    assert page.locator(".filters:visible, [role=search]:visible").count() == 0
    frame = page.locator(SUITE)
    assert frame.evaluate("frame => [getComputedStyle(frame).maxHeight, getComputedStyle(frame).maskImage]") == [
        "none",
        "none",
    ]
