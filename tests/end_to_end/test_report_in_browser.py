"""The report in a real browser: it works from disk, asks for nothing, and runs nothing that a text holds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from support.audit_examples import hostile_example, made_examples
from support.audits import UNDEFENDED, VEIL, attack_row, made_audit, probe_row, setting, task_row
from vecveil.audit.result import AuditResult
from vecveil.audit.rows import Setting
from vecveil.reports import write_report

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium is not None, "chromium is not on the PATH; the report can't be tested without it (Debian: chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(made_audit(seeds=(0, 1)), (*made_examples(), hostile_example()), path, title="An audit & <its> report")
    return path


@contextmanager
def opened(browser: Browser, report: Path) -> Iterator[Page]:
    """Open a report; at the end, nothing went wrong and nothing but the file itself was asked for."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    problems: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    yield page
    assert problems == []
    assert requests == [report.as_uri()]
    assert page.evaluate("window.broken") is None
    page.close()


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    with opened(browser, report) as page:
        # All but the verdict is folded until someone asks for it.
        page.evaluate("for (const fold of document.querySelectorAll('details.fold')) fold.open = true")
        page.wait_for_selector("#frontier .point")
        yield page


def choose(page: Page, part: str, name: str, value: str) -> None:
    page.locator(f"{part} select[name={name}]").select_option(value)


def mark(page: Page, name: str) -> Locator:
    return page.locator(f'#frontier .point[aria-label^="{name}"]')


def point_at(page: Page, name: str) -> tuple[float, float]:
    halo = mark(page, name).locator(".halo")
    halo.scroll_into_view_if_needed()
    box = halo.bounding_box()
    assert box is not None
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*place)
    return place


def test_the_verdict_is_one_screen_and_a_link_opens_what_it_leads_to(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        assert page.locator("#verdict .headline").is_visible()
        assert not page.locator("#frontier").is_visible()
        assert page.evaluate("document.documentElement.scrollHeight") < 3000
        page.locator('nav a[href="#trade"]').click()
        page.wait_for_selector("#frontier .point")
        assert page.locator("#frontier").is_visible()


def test_the_plot_shows_every_defense_at_every_budget(page: Page) -> None:
    assert page.locator("#frontier .point").count() == 1 + 3 * 5
    assert page.locator("#frontier .chance").count() == 1
    assert page.locator("h1").inner_text() == "An audit & <its> report"


def test_another_task_and_another_attack_move_the_points(page: Page) -> None:
    first = mark(page, "LapMech, noise 1:").get_attribute("aria-label")
    choose(page, "#frontier", "task", "retrieval:nfcorpus")
    second = mark(page, "LapMech, noise 1:").get_attribute("aria-label")
    choose(page, "#frontier", "reader", "attack vec2text")
    choose(page, "#frontier", "measure", "topOne")
    third = mark(page, "LapMech, noise 1:").get_attribute("aria-label")
    assert len({first, second, third}) == 3
    assert third is not None
    assert "Top-1 accuracy" in third
    assert page.locator("#frontier .title").text_content() == "Utility kept: retrieval:nfcorpus"


def test_a_probe_has_its_auc_alone(page: Page) -> None:
    choose(page, "#frontier", "reader", "probe mlp")
    assert page.locator("#frontier select[name=measure] option").all_inner_texts() == ["AUC"]
    assert page.locator("#frontier .point").count() == 16


def test_the_legend_hides_and_shows_a_defense(page: Page) -> None:
    button = page.locator("#frontier .legend button", has_text="PurMech")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.locator("#frontier .point").count() == 11
    button.click()
    assert page.locator("#frontier .point").count() == 16


def test_pointing_at_a_mark_tells_all_its_numbers(page: Page) -> None:
    point_at(page, "veil, noise 0.7:")
    text = page.locator("#frontier .tip").inner_text()
    for part in (
        "noise 0.7",
        "549 nats per unit of Mahalanobis distance",
        "at most 274 nats",
        "Leakage",
        "Chance",
    ):
        assert part in text
    for part in ("Precision", "AUC", "neighbors", "sts:sts12.parquet", "ndcg@10", "Seeds"):
        assert part in text
    page.mouse.move(5, 5)
    assert page.locator("#frontier .tip").is_hidden()


def test_a_click_pins_a_point_until_it_is_removed(page: Page) -> None:
    page.mouse.click(*point_at(page, "veil, noise 1:"))
    page.mouse.click(*point_at(page, "none:"))
    assert page.locator("#frontier .pins .card").count() == 2
    choose(page, "#frontier", "reader", "attack geia")
    assert "geia" in page.locator("#frontier .pins .card").first.inner_text()
    page.locator("#frontier .unpin").first.click()
    assert page.locator("#frontier .pins .card-title").all_inner_texts() == ["none"]


def test_the_plot_can_be_used_from_the_keyboard(page: Page) -> None:
    page.locator("#frontier .legend button").last.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert "veil, noise 0.3" in page.locator("#frontier .tip").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("#frontier .pins .card").count() == 1
    assert str(page.evaluate("document.activeElement.getAttribute('aria-label')")).startswith("veil")
    page.keyboard.press("Escape")
    assert page.locator("#frontier .tip").is_hidden()


def test_categories_follow_the_choice_of_attack_and_budget(page: Page) -> None:
    before = page.locator("#category-plot svg title").all_text_contents()
    choose(page, "#category-plot", "attack", "geia")
    choose(page, "#category-plot", "budget", "noise 1.5")
    after = page.locator("#category-plot .frame svg title").all_text_contents()
    assert len(before) == len(after) == 4 * 4
    assert set(before).isdisjoint(after)


def test_a_table_is_sorted_by_its_numbers(page: Page) -> None:
    heading = page.locator("#attacks table").first.locator("th", has_text="vec2text")
    values = "cells => cells.map(cell => Number(cell.dataset.value))"
    column = page.locator("#attacks table").first.locator("tbody td:nth-child(5)")
    heading.locator("button").click()
    rising = column.evaluate_all(values)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    assert rising == sorted(rising)
    assert column.evaluate_all(values) == rising[::-1]


def test_what_is_missing_is_sorted_last(page: Page) -> None:
    table = page.locator("#attacks table").first
    for _ in range(2):
        table.locator("th", has_text="Budget").locator("button").click()
        assert table.locator("tbody tr").last.inner_text().startswith("none")


def test_a_long_table_is_narrowed_to_one_attack(page: Page) -> None:
    page.locator("#attacks summary", has_text="Every number").click()
    page.locator("#attacks details select").select_option("geia")
    assert page.locator("#attacks details table.filtered tbody tr:visible").count() == 16


def test_reconstructions_follow_the_choice_of_attack_and_budget(page: Page) -> None:
    choose(page, "#readings", "attack", "vec2text")
    first = page.locator("#readings .example", has_text="Merkel").first
    assert first.locator(".original .private").all_inner_texts() == ["Angela Merkel", "Lyon", "14 March"]
    assert first.locator(".reading").first.locator(".text mark").all_inner_texts() == [
        "Angela",
        "Merkel",
        "Lyon",
        "March",
    ]
    page.locator("#readings select[name=budget]").select_option(label="noise 1.5")
    assert first.locator(".reading h4").last.inner_text() == "Read behind veil, noise 1.5"
    assert first.locator(".reading").last.locator("mark").count() == 0
    choose(page, "#readings", "attack", "mlc")
    assert "names words and writes no sentence" in first.inner_text()


def test_a_hostile_text_is_shown_and_not_run(page: Page) -> None:
    last = page.locator("#readings .example").last
    assert "<script>window.broken=1</script>" in last.locator(".original .text").inner_text()
    assert last.locator("script, img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_is_never_wider_than_the_window(page: Page, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    page.mouse.click(*point_at(page, "veil, noise 0.3:"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    svg = page.locator("#frontier .frame > svg").bounding_box()
    assert svg is not None
    assert svg["width"] < width


def test_the_first_table_is_whole_on_a_telephone(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        page.set_viewport_size({"width": 400, "height": 900})
        frame = page.locator(".scroll:has(> .overview)")
        assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") <= 0
        heads = page.locator(".overview thead th").all_inner_texts()
        assert heads[0] == "Defense"
        assert "Words" in heads


def odd_audits() -> dict[str, AuditResult]:
    whole = made_audit()
    removal = Setting(defense="remove", label="remove", asked="", readings=None, seed=0)
    few = (UNDEFENDED, setting(VEIL, 0.5))
    return {
        "nothing": replace(whole, attacks=(), probes=(), tasks=(), verdicts=(), sheets=()),
        "no tasks": replace(whole, tasks=()),
        "no control": replace(whole, attacks=whole.attacks[3:5], tasks=whole.tasks[3:5], probes=()),
        "probes alone": replace(whole, attacks=(), probes=tuple(probe_row(one, "mlp") for one in few)),
        "a defense on texts": replace(
            whole,
            attacks=tuple(replace(attack_row(UNDEFENDED, "mlc"), setting=one) for one in (*few, removal)),
            tasks=tuple(replace(task_row(UNDEFENDED, "neighbors"), setting=one) for one in (*few, removal)),
        ),
    }


@pytest.mark.parametrize(
    ("name", "points"),
    [("nothing", 0), ("no tasks", 16), ("no control", 0), ("probes alone", 2), ("a defense on texts", 3)],
)
def test_an_odd_audit_has_a_page_without_errors(browser: Browser, tmp_path: Path, name: str, points: int) -> None:
    write_report(odd_audits()[name], None, tmp_path / "report.html", title=name)
    with opened(browser, tmp_path / "report.html") as page:
        assert page.locator("h1").inner_text() == name
        assert page.locator("#frontier .point").count() == points
