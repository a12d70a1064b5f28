"""Ray Data: a data set of texts becomes one of protected vectors, on as many machines as Ray has."""

from pathlib import Path

import ray

import vecveil as vv
from vecveil.integrations.engines import Columns
from vecveil.integrations.ray import protect_dataset

here = Path.cwd()  # workers have a folder of their own, so that they need whole paths
guard = vv.Guard(here / "patients.veil", noise_ratio=0.5, key=here / "patients.key", ledger=here / "ray.sqlite")
notes = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
dataset = ray.data.from_items([{"id": str(number), "text": note} for number, note in enumerate(notes)])
print(protect_dataset(dataset, guard, Columns(text_column="text", id_column="id")).schema().names)
