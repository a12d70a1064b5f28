"""The experiments by name."""

from __future__ import annotations

from reproduction.experiment import PaperExperiment
from vecveil.core.registry import Registry

EXPERIMENTS: Registry[type[PaperExperiment]] = Registry(
    kind="experiment",
    builtin={
        "main-results": "reproduction.main_results:MainResults",
        "more-datasets": "reproduction.more_datasets:MoreDatasets",
        "attack-models": "reproduction.attack_models:AttackModels",
        "categories": "reproduction.categories:Categories",
        "white-box": "reproduction.white_box:WhiteBox",
        "similar-tokens": "reproduction.similar_tokens:SimilarTokens",
        "neuron-masks": "reproduction.neuron_masks:NeuronMasks",
        "privacy-neurons": "reproduction.privacy_neurons:PrivacyNeurons",
        "embedding-models": "reproduction.embedding_models:EmbeddingModels",
        "pii-baselines": "reproduction.pii_baselines:PiiBaselines",
        "regularization": "reproduction.regularization:Regularization",
        "overhead": "reproduction.overhead:Overhead",
        "case-study": "reproduction.case_study:CaseStudy",
    },
    group="vecveil.experiments",
)
"""In the order of the paper."""
