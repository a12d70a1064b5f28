from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.audit_examples import HOSTILE, hostile_example, made_examples
from support.audits import made_audit
from vecveil.audit.result import AuditResult
from vecveil.core.errors import MissingExtraError
from vecveil.reports import render_report, write_report
from vecveil.reports.html import fact_lines

SECTIONS = [
    "verdict",
    "trade",
    "category",
    "confidence",
    "attacks",
    "blank",
    "control",
    "probes",
    "examples",
    "guarantee",
    "run",
    "reading",
]
# The only elements of HTML whose content is no text to show.
RAW = ("style", "script")


class Page(HTMLParser):
    """What a browser would make of a page: tags with their attributes, text, and the content of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.raw, self.inside = "", [""], ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.raw.append("")
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside in RAW:
            self.raw[-1] += data
        else:
            self.text += data

    def content(self, tag: str) -> list[str]:
        return [raw for (name, _), raw in zip(self.tags, self.raw[1:], strict=True) if name == tag]


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit()


@pytest.fixture(scope="module")
def page(result: AuditResult) -> Page:
    return Page(render_report(result, made_examples(), title="An audit"))


def test_sections_come_in_the_order_of_a_readers_questions(page: Page) -> None:
    assert [attributes["id"] for tag, attributes in page.tags if tag == "section"] == SECTIONS


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert [attributes for _, attributes in page.tags if "src" in attributes or "style" in attributes] == []
    assert {str(attributes["href"])[0] for _, attributes in page.tags if "href" in attributes} == {"#"}
    style, *_ = page.content("style")
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_the_pages_own_script_and_style_alone(page: Page) -> None:
    policy = next(str(tag[1]["content"]) for tag in page.tags if "http-equiv" in tag[1])
    _, script = page.content("script")
    for part in (script, page.content("style")[0]):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_headings_of_columns_and_rows_say_what_they_head(page: Page) -> None:
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    rows = sum(tag == "tr" for tag, _ in page.tags)
    tables = sum(tag == "table" for tag, _ in page.tags)
    assert {*scopes} == {"col", "row"}
    assert scopes.count("row") == rows - tables


def test_verdicts_and_reasons_are_in_words(page: Page, result: AuditResult) -> None:
    assert result.sentence in page.text
    for verdict in result.verdicts:
        assert all(judgment.reason in page.text for judgment in verdict.judgments)


def test_warnings_of_the_guarantee_stand_once_above_the_sheet(page: Page, result: AuditResult) -> None:
    for sheet in result.sheets:
        assert sheet.warnings
        assert all(page.text.count(warning) == 1 for warning in sheet.warnings)
    assert page.text.count("It holds if:") == len(result.sheets)


def test_digests_versions_and_seeds_are_told(page: Page, result: AuditResult) -> None:
    assert result.plan_digest in page.text
    assert all(version in page.text for version in result.versions.values())
    assert result.veil["digest"] in page.text


def test_a_page_with_texts_says_that_it_is_private(page: Page, result: AuditResult) -> None:
    assert "This report holds private texts." in page.text
    bare = render_report(result, None, title="An audit")
    assert "This report holds private texts." not in bare
    assert "Texts were left out of this report on request." in bare
    assert "Merkel" not in bare


def test_no_text_adds_a_tag_to_the_page(result: AuditResult) -> None:
    categories = {HOSTILE: result.attacks[0].categories["GPE"]}
    tame, hostile = (
        Page(
            render_report(
                replace(
                    result,
                    attacks=(replace(result.attacks[0], categories={name: categories[HOSTILE]}), *result.attacks[1:]),
                    plan={"note": name},
                ),
                [hostile_example()],
                title=name,
            )
        )
        for name in ("plain", HOSTILE)
    )
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in tame.tags]
    data, _ = hostile.content("script")
    assert json.loads(data)["examples"][0]["tokens"] == ["script", HOSTILE]


@pytest.mark.parametrize("examples", [None, ()])
def test_an_audit_of_nothing_still_makes_a_page(result: AuditResult, examples: tuple[()] | None) -> None:
    empty = replace(result, attacks=(), probes=(), tasks=(), verdicts=(), sheets=(), corpus={}, versions={})
    text = Page(render_report(empty, examples, title="Nothing")).text
    assert "No verdict: no veil was audited" in text
    assert "No attack and no probe was run." in text


def test_a_file_with_texts_is_its_owners_alone(result: AuditResult, tmp_path: Path) -> None:
    private, public = tmp_path / "private.html", tmp_path / "public.html"
    write_report(result, made_examples(), private, title="An audit")
    write_report(result, None, public, title="half a character \ud83d")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert re.match("<!doctype html>", public.read_text(encoding="utf-8"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private.html", "public.html"]


def test_a_missing_template_engine_names_its_extra(result: AuditResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[audit\]"):
        render_report(result, None, title="An audit")


def test_nested_facts_become_lines() -> None:
    facts = {
        "noise_ratio": 0.5,
        "texts": 12000,
        "names": ["a", "b"],
        "shape": {"learner": "x", "rotated": False, "center": None},
        "attacks": [{"name": "mlc"}, {"name": "geia"}],
        "nothing": {},
        "empty": "",
    }
    assert fact_lines(facts) == (
        ("noise ratio", "0.5"),
        ("texts", "12,000"),
        ("names", "a, b"),
        ("shape · learner", "x"),
        ("shape · rotated", "no"),
        ("shape · center", "–"),
        ("attacks · 1 · name", "mlc"),
        ("attacks · 2 · name", "geia"),
        ("nothing", "–"),
        ("empty", "–"),
    )
