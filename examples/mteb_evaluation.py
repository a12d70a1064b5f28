"""MTEB: how much a protected model loses on a task, here one that needs no download."""

import mteb
from datasets import Dataset, DatasetDict
from mteb.abstasks import AbsTaskSTS

import vecveil as vv
from vecveil.integrations.mteb import VeiledEncoder

PAIRS = {"sentence1": ["A lift", "Rain"] * 4, "sentence2": ["An elevator", "A tax form"] * 4, "score": [5.0, 0.0] * 4}


class Pairs(AbsTaskSTS):
    metadata = mteb.get_task("STSBenchmark").metadata.model_copy(update={"name": "Pairs"})
    dataset, data_loaded, superseded_by = DatasetDict({"test": Dataset.from_dict(PAIRS)}), True, None
    min_score, max_score = 0, 5


guard = vv.Guard("patients.veil", noise_ratio=0.5, ledger="default")
print(mteb.evaluate(VeiledEncoder(guard), Pairs(), cache=None).task_results[0].get_score())
