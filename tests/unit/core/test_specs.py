from __future__ import annotations

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import Spec, parse_spec


@pytest.mark.parametrize(
    ("text", "name", "target", "settings"),
    [
        ("neighbors", "neighbors", None, {}),
        ("sts:pairs.parquet", "sts", "pairs.parquet", {}),
        ("geia:priors/minilm,steps=0", "geia", "priors/minilm", {"steps": 0}),
        ("mlc,hidden=[512,256],rate=1e-3", "mlc", None, {"hidden": (512, 256), "rate": 1e-3}),
        (
            "retrieval:fiqa, protected = documents ,split=test",
            "retrieval",
            "fiqa",
            {"protected": "documents", "split": "test"},
        ),
        ("sts:a,b.csv,split=dev", "sts", "a,b.csv", {"split": "dev"}),
        (r"sts:C:\pairs.csv", "sts", r"C:\pairs.csv", {}),
        ('sts:p.csv,split="2012",strict=true,cut=null', "sts", "p.csv", {"split": "2012", "strict": True, "cut": None}),
        ("vec2text:a/b@main,formula=a=b", "vec2text", "a/b@main", {"formula": "a=b"}),
        ("mlc,rate=NaN", "mlc", None, {"rate": "NaN"}),
    ],
)
def test_a_spec_has_a_name_a_target_and_settings(
    text: str, name: str, target: str | None, settings: dict[str, object]
) -> None:
    assert parse_spec(text, "utility task") == Spec(name=name, target=target, settings=settings)


@pytest.mark.parametrize("text", ["", ":pairs.csv", "sts:", "sts:,split=test", "neighbors,both", "two words"])
def test_what_is_no_spec_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(
        InvalidInputError, match="names no utility task: write NAME, NAME:TARGET or NAME:TARGET,setting"
    ):
        parse_spec(text, "utility task")


def test_a_setting_has_one_value() -> None:
    with pytest.raises(InvalidInputError, match="setting 'split' of the utility task 'sts' has no value"):
        parse_spec("sts:pairs.csv,split=", "utility task")
    with pytest.raises(InvalidInputError, match="setting 'split' of the utility task 'sts' is given twice"):
        parse_spec("sts:pairs.csv,split=a,split=b", "utility task")
