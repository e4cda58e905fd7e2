"""The pages as files: each link leads somewhere, nothing comes from elsewhere, and nothing hostile is markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tokspec.adapter import Hello
from tokspec.base.errors import DataError
from tokspec.judge.effects import Effect
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import effective_choices, judge
from tokspec.protocol.messages import Answer
from tokspec.results.one_file import FileRow
from tokspec.results.recorded import Bug, Library, Recorded
from tokspec.results.rows import Listed, MatrixRow
from tokspec.results.site.badges import badge_svg
from tokspec.results.site.build import build_site, run_page
from tokspec.results.site.views import Chip, TokenRow, choice_marks, options_taken, token_rows
from tokspec.suite.cases import Suite, bare_case
from tokspec.suite.specification import load_specification


class Page(HTMLParser):
    """What a page has that matters here: its elements, their anchors, what it links to, and what it loads."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.nodes, self.links, self.loads, self.handlers = 0, set[str](), set[str](), set[str]()
        self.ids, self.scripts, self.text, self._in_script = set[str](), 0, "", False
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.nodes += 1
        self.scripts += tag == "script"
        for name, value in attrs:
            if name.startswith("on") or (
                name in ("href", "src") and (value or "").strip().lower().startswith("javascript:")
            ):
                self.handlers.add(f"{tag} {name}")
            if name == "id":
                self.ids.add(value or "")
            if name == "href" and tag == "a":
                self.links.add(value or "")
            elif name in ("src", "href"):
                self.loads.add(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file.read_text("utf-8")) for file in site.rglob("*.html")}


@pytest.mark.slow
def test_each_link_leads_to_a_page_and_its_anchor(site: Path, pages: dict[Path, Page]) -> None:
    wrong = []
    for file, page in pages.items():
        for link in page.links:
            address, _, anchor = link.partition("#")
            path = address.partition("?")[0]
            if path.startswith("https://"):
                continue
            target = (file.parent / path).resolve() if path else file
            if not target.is_file() or (anchor and anchor not in pages[target].ids):
                wrong.append(f"{file.relative_to(site)}: {link}")
    assert wrong == []


@pytest.mark.slow
def test_every_page_leads_to_the_page_about_adding_an_implementation(site: Path, pages: dict[Path, Page]) -> None:
    add = site / "docs" / "add-your-implementation.html"
    assert [
        file for file, page in pages.items() if add not in {(file.parent / link).resolve() for link in page.links}
    ] == []
    assert "☐ 1. An adapter." in pages[add].text
    assert "[ ]" not in pages[add].text


@pytest.mark.slow
def test_long_pages_have_contents(site: Path, pages: dict[Path, Page], suite: Suite) -> None:
    (hostile,) = (page for file, page in pages.items() if file.match("impl/script*/index.html"))
    assert {"#chapters", "#profiles", "#failures", "#unsupported", "#choices", "#badges"} <= hostile.links
    (own,) = (page for file, page in pages.items() if file.match("impl/tokfast*/index.html"))
    assert "written by tokspec" in own.text
    choices, clauses = pages[site / "choices.html"], pages[site / "clauses.html"]
    assert {f"#{name}" for name in load_specification().choices} == {link for link in choices.links if link[0] == "#"}
    chapters = {f"#{clause.chapter}" for clause in load_specification().clauses.values()}
    kinds = {"#all-choices", "#features", "#libraries", "#models"}
    assert {link for link in clauses.links if link[0] == "#"} == chapters | kinds
    streams = {
        f"#{clause.id.lower()}" for clause in load_specification().clauses.values() if clause.chapter[:2] == "16"
    }
    assert {link for link in pages[site / "spec" / "16-streams.html"].links if link[0] == "#"} == {
        *streams,
        "#profiles-of-this-chapter",
    }


@pytest.mark.slow
def test_all_that_is_wrong_is_on_one_page(site: Path, pages: dict[Path, Page], hostile_run: Run) -> None:
    page = pages[site / "bugs.html"]
    failing = {result.case.id for result in hostile_run.results if not result.verdict.conforms}
    cases = {link.removeprefix("case/").removesuffix(".html") for link in page.links if link.startswith("case/")}
    assert len(cases) > 20
    assert cases <= failing
    assert {link for link in page.links if link.startswith("impl/")} == {
        f"impl/{file.parent.name}/index.html" for file in site.glob("impl/script*/index.html")
    }


@pytest.mark.slow
def test_a_cell_leads_to_the_failures_of_its_chapter(site: Path, pages: dict[Path, Page]) -> None:
    assert any(
        link.startswith("impl/script") and link.endswith("#04-bpe") for link in pages[site / "chapters.html"].links
    )


@pytest.mark.slow
def test_nothing_is_loaded_but_the_style_and_the_script(site: Path, pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        for load in page.loads - {"data:,"}:
            assert (file.parent / load).resolve().is_relative_to(site), (file, load)
            assert (file.parent / load).is_file(), (file, load)


@pytest.mark.slow
def test_nothing_hostile_becomes_markup(pages: dict[Path, Page]) -> None:
    assert {file.name: page.handlers for file, page in pages.items() if page.handlers} == {}
    assert {page.scripts for page in pages.values()} == {1}


@pytest.mark.slow
def test_nothing_shown_moves_hides_or_pretends(pages: dict[Path, Page]) -> None:
    unsafe = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
    found = {file.name: unsafe.findall(page.text) for file, page in pages.items()}
    assert {name: characters for name, characters in found.items() if characters} == {}


@pytest.mark.slow
def test_sizes(site: Path, pages: dict[Path, Page]) -> None:
    front = site / "index.html"
    assert front.stat().st_size < 250_000
    assert pages[front].nodes < 5000
    assert sum(file.stat().st_size for file in site.rglob("*")) < 30_000_000
    assert max(file.stat().st_size for file in pages) < 2_000_000


@pytest.mark.slow
def test_every_case_clause_and_implementation_has_a_page(suite: Suite, site: Path) -> None:
    assert {file.stem for file in site.glob("case/*.html")} == set(suite.cases)
    assert (site / "clause" / "BPE-TRAIN-7.html").is_file()
    assert len(list(site.glob("impl/*/index.html"))) == len(list(site.glob("impl/*/*/index.html"))) == 3
    assert "not run for this site." in (site / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_badges(site: Path) -> None:
    total = sum(1 for _ in site.glob("case/*.html"))
    assert json.loads((site / "badge" / "tokref.json").read_text("utf-8")) == {
        "schemaVersion": 1,
        "label": "tokspec",
        "message": f"{total}/{total} asked",
        "color": "#1a7f4b",
    }
    for file in site.glob("badge/*.svg"):
        assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_a_badge_escapes_its_words() -> None:
    svg = badge_svg("<script>", "\u202e&", "few")
    assert ElementTree.fromstring(svg).findtext("{http://www.w3.org/2000/svg}title") == "<script>: \\u202e&"


def test_the_page_of_a_run_needs_no_other_file(hostile_run: Run) -> None:
    page = Page(run_page(hostile_run, "a run", "tokspec run --impl x"))
    assert (page.loads, page.scripts, page.handlers) == ({"data:,"}, 0, set())
    contents = {"#chapters", "#profiles", "#failures", "#unsupported", "#choices"}
    assert page.links == contents
    assert {link[1:] for link in contents} <= page.ids


def test_tokens_stand_under_the_text_that_they_cover(suite: Suite) -> None:
    case = suite.cases["bpe-encode-whole-word-blocked"]
    reply = Answer({"tokens": ["abcd"], "ids": [7]})
    assert token_rows(case, case.outcome, reply) == [
        TokenRow("text", (), 4, text=("a", "b", "c", "d")),
        TokenRow("expected", (Chip("a", "0", 1, 2, True), Chip("bc", "4", 2, 4), Chip("d", "3", 4, 5)), 4),
        TokenRow("actual", (Chip("abcd", "7", 1, 5, True),), 4),
    ]


def test_tokens_that_cover_nothing_stand_beside_each_other(suite: Suite) -> None:
    case = suite.cases["bpe-toy-encode-mug"]
    outcome = case.outcome["by_choice"]["unknown_token_text"]["entry"]
    rows = token_rows(case, outcome, Answer({"tokens": ["ug", "g"]}))
    assert [(row.label, row.width, [chip.text for chip in row.chips]) for row in rows] == [
        ("expected", 0, ["[UNK]", "ug"]),
        ("actual", 0, ["ug", "g"]),
    ]


@pytest.mark.slow
def test_the_front_page_leads_to_the_models(pages: dict[Path, Page], site: Path) -> None:
    front = pages[site / "index.html"]
    assert sorted(link for link in front.links if link.startswith("models/")) == [
        "models/other.html",
        "models/toy.html",
    ]
    assert "toy1of2" in "".join(front.text.split())
    text = "".join(pages[site / "models" / "toy.html"].text.split())
    assert "tokfast0.3.0100%100%Python" in text
    assert "99.96%0%" in text
    assert "../impl/tokfast/index.html" in pages[site / "models" / "toy.html"].links


EACH = {"tokens": ["[UNK]", "[UNK]", "ug"], "ids": [0, 0, 8], "spans": [[0, 1], [1, 2], [2, 4]]}
FUSED = {"tokens": ["[UNK]", "ug"], "ids": [0, 8], "spans": [[0, 2], [2, 4]]}


def _run_of(suite: Suite, name: str, choices: dict[str, str], result: dict[str, object]) -> Run:
    """A run of two cases, to both of which the answer is one of a run of unknown characters."""
    hello = Hello(name, "1", "C", ("encode",), encode_fields=("tokens", "ids", "spans"), choices=choices)
    taken = effective_choices(hello)
    cases = [suite.cases[id] for id in ("bpe-unknown-run-of-two", "bpe-encode-late-merge")]
    return Run(hello, taken, tuple(judge(case, Answer(result), hello, taken) for case in cases))


@pytest.fixture(scope="session")
def runs(suite: Suite) -> list[Run]:
    return [
        _run_of(suite, "one", {"bpe_unknown_run": "each"}, EACH),
        _run_of(suite, "two", {"bpe_unknown_run": "fused", "bpe_pairs": "in_vocabulary"}, FUSED),
        _run_of(suite, "three", {}, EACH),
        _run_of(suite, "four", {}, FUSED),
    ]


def test_a_result_depends_on_the_choices_that_lead_to_it(runs: list[Run]) -> None:
    assert [[list(options_taken(result, run.choices)) for result in run.results] for run in runs[:2]] == [
        [
            [("bpe_unknown_run", "each", True), ("unknown_token_text", "entry", True)],
            [("bpe_pairs", "listed", False), ("bpe_merge_order", "single_pass", False)],
        ],
        [
            [("bpe_unknown_run", "fused", True), ("unknown_token_text", "entry", True)],
            [("bpe_pairs", "in_vocabulary", False)],
        ],
    ]


def test_a_choice_is_marked_as_declared_or_default_and_shown_or_not(runs: list[Run]) -> None:
    names = ("bpe_unknown_run", "bpe_pairs", "bpe_merge_order", "unknown_id")
    assert [[choice_marks(run)[name] for name in names] for run in runs] == [
        ["declared, 1/1", "default, not shown, 0/1", "default, not shown, 0/1", "default, not asked"],
        ["declared, 1/1", "declared, 0/1", "default, not asked", "default, not asked"],
        ["default, 1/1", "default, not shown, 0/1", "default, not shown, 0/1", "default, not asked"],
        ["default, not shown, 0/1", "default, not shown, 0/1", "default, not shown, 0/1", "default, not asked"],
    ]


def test_without_outcomes_a_choice_is_marked_as_declared_given_or_default(runs: list[Run]) -> None:
    read = [replace(result, case=bare_case(result.case.id, "encode", {})) for result in runs[1].results]
    run = replace(runs[1], results=tuple(read), choices={**runs[1].choices, "unknown_id": "skipped"})
    marks = choice_marks(run)
    assert [marks[name] for name in ("bpe_unknown_run", "unknown_id", "bpe_merge_order")] == [
        "declared",
        "given",
        "default",
    ]


@pytest.fixture(scope="session")
def small_site(suite: Suite, runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    listed = Listed(impl="x", command=None, built=None, build="", known=KnownFailures(), engine="x")
    cases = {result.case.id: result.case for result in runs[0].results}
    rows = [MatrixRow(replace(listed, release="ours" if run is runs[0] else ""), run) for run in runs]
    build_site(rows, Suite(cases), folder)
    return folder


def _words(file: Path) -> str:
    """Return the text of a page, its elements apart."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", file.read_text("utf-8"))).split())


def test_what_has_a_release_is_repeated_by_its_version(small_site: Path, runs: list[Run]) -> None:
    pages = [(small_site / "impl" / name / "index.html").read_text("utf-8") for name in ("one", "two")]
    assert [re.findall(r"to repeat it</dt><dd><code>(.*?)</code>", page) for page in pages] == [
        ["tokspec run --impl ours==1"],
        ["tokspec run --impl x"],
    ]


def test_a_page_of_each_release_stays_and_says_what_it_changed(suite: Suite, runs: list[Run], tmp_path: Path) -> None:
    cases = {result.case.id: result.case for result in runs[0].results}
    listed = Listed(impl="x", command=None, built=None, build="", known=KnownFailures(), home="https://example.com/x")
    change = {"change": "lost", "verdicts": "pass to fail", "cause": "by BPE-ENC-7", "cases": ["one", "two"]}
    releases = [
        {"version": "1", "counts": {"pass": 1}, "changes": []},
        {"version": "2", "counts": {"pass": 3, "fail": 1, "unsupported": 5}, "changes": [change]},
        {"version": "3", "fault": "cannot be asked"},
    ]
    for version in ("1", "2"):
        run = replace(runs[0], hello=replace(runs[0].hello, version=version))
        history = [{"name": "x", "releases": releases}]
        build_site([MatrixRow(listed, run)], Suite(cases), tmp_path, histories=history, address="https://example.com/t")
    text = _words(tmp_path / "impl" / "one" / "index.html")
    assert (
        "project https://example.com/x adapter written by tokspec beside another compare releases here 1 2 judged"
        in text
    )
    assert text.partition("since the one before it. ")[2].startswith(
        "release passed what changed 3 not judged: cannot be asked 2 3 of 4 lost 2: by BPE-ENC-7 1 1 of 1 nothing Badges"
    )
    assert "one 1" in _words(tmp_path / "impl" / "one" / "1" / "index.html")
    page = (tmp_path / "impl" / "one" / "index.html").read_text("utf-8")
    assert "[![tokspec: 1/2 asked](https://example.com/t/badge/one.svg)](https://example.com/t/impl/one/)" in unescape(
        page
    )


@pytest.mark.slow
def test_threads_are_links(site: Path, pages: dict[Path, Page]) -> None:
    thread = "https://github.com/vllm-project/vllm/issues/984"
    assert thread in pages[site / "clause" / "STREAM-1.html"].links
    sources = {link for file, page in pages.items() if file.parent.name == "case" for link in page.links}
    assert len([link for link in sources if link.startswith("https://github.com/") and "/issues/" in link]) > 50


def test_all_verdicts_are_in_one_file(small_site: Path, runs: list[Run]) -> None:
    told = json.loads((small_site / "results.json").read_text("utf-8"))
    assert (told["tokspec_results"], told["cases"]) == (1, [result.case.id for result in runs[0].results])
    assert [[each["impl"], each["name"], each["version"], each["verdicts"]] for each in told["implementations"]] == [
        [run.hello.name, run.hello.name, "1", [result.verdict.value for result in run.results]] for run in runs
    ]


def test_answers_are_apart_by_the_option_of_a_choice(small_site: Path) -> None:
    file = small_site / "case" / "bpe-unknown-run-of-two.html"
    assert _words(file).partition("What the libraries judged here answer ")[2] == (
        "pass bpe_unknown_run=each unknown_token_text=entry one 1 , three 1 "
        '{"tokens": ["[UNK]", "[UNK]", "ug"], "ids": [0, 0, 8], "spans": [[0, 1], [1, 2], [2, 4]]} '
        'pass bpe_unknown_run=fused unknown_token_text=entry two 1 {"tokens": ["[UNK]", "ug"], "ids": [0, 8], "spans": [[0, 2], [2, 4]]} '
        "fail bpe_unknown_run=each unknown_token_text=entry four 1 text t m u g expected [UNK] 0 [UNK] 0 ug 8 actual [UNK] 0 ug 8"
    )
    assert "../choices.html#bpe_unknown_run" in Page(file.read_text("utf-8")).links


def test_the_page_of_choices_says_who_declares_and_who_shows_an_option(small_site: Path) -> None:
    assert (
        "each (default) one unknown token for each character "
        "one 1 (declared, 1/1) , three 1 (default, 1/1) , four 1 (default, not shown, 0/1) "
        "fused one unknown token for the run two 1 (declared, 1/1) "
    ) in _words(small_site / "choices.html")


def test_the_page_of_a_clause_counts_who_fails_each_case(small_site: Path) -> None:
    text = _words(small_site / "clause" / "BPE-ENC-7.html").partition("Who fails it ")[2]
    why = "Two unknown characters side by side are two unknown tokens or one that spans both."
    assert text == (
        "four 1 1 of 1 case Holds in all that is asked: one 1 , two 1 , three 1 . "
        f"Cases bpe-unknown-run-of-two encode {why} 1 of 4 fail"
    )


def test_the_page_of_a_model_says_what_else_a_library_gets_wrong(suite: Suite, tmp_path: Path) -> None:
    case = suite.cases["bpe-toy-encode-mug"]
    effects = {effect.value: (0, 0, 0) for effect in Effect}
    causes = [Bug(f"Cause {number}.", case.id, 9 - number, ["bpe"] * (number % 2)) for number in range(5)]
    causes += [Bug("Of words.", case.id, 3, ["wordpiece"], ["panic: <no words>"])]
    libraries = [Library("a/port 2", "Python, Rust", 3, 9, effects, (0, 0), causes)]
    rows = [FileRow("a/port 2", "Python, Rust", "", (3, 3), (1, 1)), FileRow("new 1", "Go", "", (2, 3), (1, 1))]
    asked = {row.who: "2026-11-29" for row in rows}
    toy = Recorded("toy", "toy.tiktoken", "vocab.tiktoken", "npm toy 1.0.0", "ab" * 32, "bpe", asked, rows)
    other = FileRow("a/third 3", "Python, Rust", "", (1, 2), (1, 1))
    recorded = {"toy": toy, "toy-2": replace(toy, name="toy-2", format="tokenizer.json", rows=[*rows, other])}
    build_site([], Suite({case.id: case}), tmp_path, recorded, libraries)
    text = _words(tmp_path / "models" / "toy.html")
    assert "language all Go Python Rust" in text
    assert "100 % Python (engine in Rust) " in text
    assert "whose engine is in Rust, the Python package was tested" in text
    others = " Other tokenizers of this name, each with the libraries that load it but not {}. Choose the one whose file your model has. "
    assert f"{others.format('toy')}toy-2 : a/third 3 (Python, 50 %) What else " in text
    assert f"{others.format('toy-2')}toy (tiktoken file) What else " in _words(tmp_path / "models" / "toy-2.html")
    answers = _words(tmp_path / "case" / f"{case.id}.html").partition(" What the libraries judged here answer ")[2]
    causes_here = " ".join(f"a/port 2: {bug.reason}" for bug in causes)
    assert answers == f"Recorded as wrong, but not judged for this site: {causes_here}"
    assert text.partition("the options that you use. ")[2].partition(" How we measured ")[0] == (
        "a/ port 2 Cause 0. bpe-toy-encode-mug Cause 1. bpe-toy-encode-mug Cause 2. bpe-toy-encode-mug "
        "and 2 more, among all bugs of a/ port 2 new 1 nothing is recorded"
    )
    page = (tmp_path / "models" / "toy.html").read_text("utf-8")
    assert 'data-name="a/port 2" data-language="Python|Rust"' in page
    assert "../bugs.html?library=a/port" in Page(page).links
    assert "toy tiktoken file 1 of 2" in _words(tmp_path / "index.html")
    wrong, _, changed = _words(tmp_path / "bugs.html").partition(" What releases changed ")
    assert wrong.count("a/ port 2 Cause ") == 5
    assert "Of words. says: panic: <no words> bpe-toy-encode-mug and 2 more" in wrong
    assert changed.startswith("From release notes, merged changes and published sources.")


def test_a_link_that_somebody_put_into_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "case").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError) as caught:
        build_site([], Suite({}), tmp_path / "site")
    assert str(caught.value) == f"{tmp_path / 'site' / 'case'}: is a link; remove it, or give another folder"
    assert list((tmp_path / "elsewhere").iterdir()) == []
