from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vecveil.cli.main import commands
from vecveil.cli.selftest import selftest
from vecveil.core.errors import InvalidInputError
from vecveil.testing.selftest import SelfTest, SelfTestResult
from vecveil.testing.selftest.privacy_loss import Loss
from vecveil.testing.selftest.result import CanaryOutcome, Finding

LOSS = {"distance": 0.25, "promised": 1.0, "exact": 1.0, "trials": 1000}
TITLE = "laplace, uniform, n = 2"
RIGHT = (
    Finding(subject="secure streams", check="AES-256 key stream", pvalue=1.0),
    Loss(subject=TITLE, check="privacy loss", pvalue=1.0, detail="near", at=None, hits=900, others=500, **LOSS),
    Loss(subject=TITLE, check="delta at 0", pvalue=1.0, detail="near", at=0.0, hits=900, others=500, **LOSS),
)
WRONG = (
    Loss(subject=TITLE, check="privacy loss", pvalue=1e-80, detail="near", at=None, hits=900, others=5, **LOSS),
    *(Finding(subject=TITLE, check=f"direction {number}", pvalue=0.0) for number in range(25)),
)
CAUGHT = CanaryOutcome(name="wrong gamma shape, n = 16", flaw="Draws wrongly.", caught_by=("radius", "spread"))
MISSED = CanaryOutcome(name="clipped tails, n = 16", flaw="Clips.", caught_by=())


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the self-test is told, and finds."""
    told: dict[str, object] = {"findings": RIGHT, "canaries": (CAUGHT,)}

    def run(test: SelfTest, progress: object) -> SelfTestResult:
        told["test"] = test
        return SelfTestResult(
            settings={"samples": test.samples},
            versions={},
            false_alarms=test.false_alarms,
            findings=told["findings"],
            canaries=told["canaries"],
        )

    monkeypatch.setattr(SelfTest, "run", run)
    return told


def run(*arguments: object) -> Result:
    # With the settings of all commands: Click remembers a command's own help as it is first asked for.
    settings = commands.context_settings
    return CliRunner().invoke(selftest, [str(argument) for argument in arguments], catch_exceptions=False, **settings)


def test_a_pass_shows_bounds_promises_and_canaries_and_ends_with_0(told: dict[str, object]) -> None:
    result = run()
    assert result.exit_code == 0
    assert "laplace, uniform, n = 2" in result.stdout
    assert "/ 1.000" in result.stdout
    assert "radius; spread" in result.stdout
    assert "Passed: 3 checks" in result.stdout
    assert told["test"] == SelfTest()


def test_a_failure_is_named_with_its_bound_and_ends_with_1(told: dict[str, object]) -> None:
    told["findings"] = WRONG
    result = run()
    assert result.exit_code == 1
    assert "privacy loss (near), p = 1e-80: at least" in result.stdout
    assert "and 6 more; --json writes them all" in result.stdout
    assert "Failed: 26 of 26 checks" in result.stdout


def test_a_missed_canary_ends_with_1(told: dict[str, object]) -> None:
    told["canaries"] = (CAUGHT, MISSED)
    result = run()
    assert result.exit_code == 1
    assert "nothing" in result.stdout
    assert "blind" in result.stdout


def test_options_reach_the_test(told: dict[str, object]) -> None:
    names = ("--mechanism", "laplace", "--mechanism", "purkayastha")
    run(*names, "--samples", 5000, "--false-alarms", 0.1, "--thorough")
    assert told["test"] == SelfTest(
        mechanisms=("laplace", "purkayastha"), samples=5000, false_alarms=0.1, thorough=True
    )
    run("--seed", 3)
    assert told["test"] == SelfTest(seed=3)


def test_findings_are_written_whole(told: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    assert run("--json", path).exit_code == 0
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["passed"] is True
    assert len(written["findings"]) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["findings.json"]


def test_a_failed_run_is_written_too(told: dict[str, object], tmp_path: Path) -> None:
    told["findings"] = WRONG
    assert run("--json", tmp_path / "findings.json").exit_code == 1
    assert json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"))["passed"] is False


def test_an_existing_file_is_refused_before_anything_is_tested(told: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="exists already"):
        run("--json", path)
    assert "test" not in told
    assert path.read_text(encoding="utf-8") == "mine"
    assert run("--json", path, "--overwrite").exit_code == 0
    assert path.read_text(encoding="utf-8") != "mine"


def test_a_file_in_no_folder_is_refused(told: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be written"):
        run("--json", tmp_path / "nowhere" / "findings.json")
    with pytest.raises(InvalidInputError, match="can't be written"):
        run("--json", tmp_path, "--overwrite")
    assert "test" not in told
