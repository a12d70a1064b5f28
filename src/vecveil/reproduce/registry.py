"""The experiments by name."""

from __future__ import annotations

from vecveil.core.registry import Registry
from vecveil.reproduce.experiment import Experiment

EXPERIMENTS: Registry[type[Experiment]] = Registry(
    kind="experiment",
    builtin={
        "main-results": "vecveil.reproduce.main_results:MainResults",
        "more-datasets": "vecveil.reproduce.more_datasets:MoreDatasets",
        "attack-models": "vecveil.reproduce.attack_models:AttackModels",
        "categories": "vecveil.reproduce.categories:Categories",
        "white-box": "vecveil.reproduce.white_box:WhiteBox",
        "similar-tokens": "vecveil.reproduce.similar_tokens:SimilarTokens",
        "neuron-masks": "vecveil.reproduce.neuron_masks:NeuronMasks",
        "privacy-neurons": "vecveil.reproduce.privacy_neurons:PrivacyNeurons",
        "embedding-models": "vecveil.reproduce.embedding_models:EmbeddingModels",
        "pii-baselines": "vecveil.reproduce.pii_baselines:PiiBaselines",
        "regularisation": "vecveil.reproduce.regularisation:Regularisation",
        "overhead": "vecveil.reproduce.overhead:Overhead",
        "case-study": "vecveil.reproduce.case_study:CaseStudy",
    },
    group="vecveil.experiments",
)
"""In the order of the paper."""
