"""Spark: a data frame of texts becomes one of protected vectors, on as many machines as Spark has."""

from pathlib import Path

from pyspark.sql import SparkSession

import vecveil as vv
from vecveil.integrations.engines import Columns
from vecveil.integrations.spark import protect_frame

here = Path.cwd()  # workers have a folder of their own, so that they need whole paths
guard = vv.Guard(here / "patients.veil", noise_ratio=0.5, key=here / "patients.key", ledger=here / "spark.sqlite")
notes = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.createDataFrame([(str(number), note) for number, note in enumerate(notes)], "id string, text string")
protect_frame(frame, guard, Columns(text_column="text", id_column="id")).printSchema()
