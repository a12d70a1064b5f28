"""scikit-learn: a classifier that never sees a clean vector."""

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import vecveil as vv
from vecveil.integrations.sklearn import VeilTransformer

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
notes = ["He slept well.", "The wound heals.", "The lift is out of order.", "The boiler leaks."]
pipeline = make_pipeline(VeilTransformer(guard), LogisticRegression())
pipeline.fit(notes, ["ward", "ward", "house", "house"])
print(pipeline.predict(["Both lifts are stuck."]))
