"""The steps of Algorithm 2, with the gradients written out: a classifier behind gates, and the gates.

Automatic differentiation has bookkeeping of its own, and works out the gradient of every masked input where only their
sum over a minibatch is needed: with W the first layer's weights, m the mask and G the gradient of W, that of m is the
sum of W·G over the layer's units, over m.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Singles
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.gate_loops import cut, fetch, find_by_mask, rectify
from vecveil.shapes.gates import Gates, sigmoid
from vecveil.shapes.learned import Learned


class GateTraining:
    """A classifier, the gates before it, and the memory that their steps are made in.

    Attributes:
        gates: The gates.
        classifier: Weights and biases of the linear layers in turn, with ReLU between them; the last has one logit.
            A layer's weights have a row for each number that it sees: so matrix products are fastest.
    """

    def __init__(
        self,
        samples: Singles,
        *,
        hidden: tuple[int, ...],
        temperature: float,
        penalty: float,
        mean: bool,
        rates: tuple[float, float],
        batch_size: int,
        rng: np.random.Generator,
    ) -> None:
        """Begin with gates that are half open, and with a random classifier.

        Args:
            samples: For each pair, the vector of the text with the concept, and that without it.
            hidden: Widths of the classifier's hidden layers.
            temperature: Initial β of every gate.
            penalty: Weight of the expected share of open gates, with its sign.
            mean: Whether the loss is a mean over the minibatch, and not a sum.
            rates: Adam's steps, for the classifier and for the gates.
            batch_size: Pairs of a step, at most.
            rng: Draws the classifier's first weights.
        """
        dimensions, rows = samples.shape[2], 2 * batch_size
        widths = (dimensions, *hidden, 1)
        shapes = [shape for width, units in itertools.pairwise(widths) for shape in ((width, units), (units,))]
        self._samples, self._penalty, self._mean = samples, penalty, mean
        self.classifier = Learned(shapes, rate=rates[0])
        self._gate_numbers = Learned([(dimensions,), (dimensions,)], rate=rates[1])
        # As layers of PyTorch begin: weights and biases alike within one over the root of what a unit sees.
        reaches = [1 / math.sqrt(width) for width in widths[:-1] for _ in range(2)]
        for values, reach in zip(self.classifier.values, reaches, strict=True):
            values[...] = rng.uniform(-reach, reach, values.shape)
        self.gates = Gates(*self._gate_numbers.values)
        self.gates.log_beta[:] = math.log(temperature)
        self._seen = [np.empty((rows, width), np.float32) for width in widths]
        self._errors = [np.empty((rows, width), np.float32) for width in hidden]
        self._by_mask = np.empty(dimensions, np.float32)
        self._targets = np.tile(np.array([[1.0], [0.0]], np.float32), (batch_size, 1))

    def step(self, pairs: NDArray[np.int64], uniform: Singles) -> None:
        """Learn from a minibatch, behind the mask that uniform numbers make."""
        self.find_gradients(pairs, uniform)
        self.classifier.step()
        self._gate_numbers.step()

    def find_gradients(self, pairs: NDArray[np.int64], uniform: Singles) -> None:
        """Put the gradients of a step in their place."""
        if len(pairs) > len(self._targets) // 2:
            # Compiled loops don't look where arrays end.
            raise InvalidInputError(f"a step has room for {len(self._targets) // 2} pairs, got {len(pairs)}")
        mask, rows = self.gates.sample(uniform), slice(0, 2 * len(pairs))
        seen = [one[rows] for one in self._seen]
        fetch(self._samples, pairs, mask.values, seen[0])
        errors = sigmoid(self._forwards(seen)) - self._targets[rows]
        if self._mean:
            errors /= np.float32(len(errors))
        self._backwards(errors, seen)
        find_by_mask(self.classifier.values[0], self.classifier.gradients[0], mask.values, self._by_mask)
        by_gates = self.gates.gradients(mask, self._by_mask, self._penalty)
        for place, gradient in zip(self._gate_numbers.gradients, by_gates, strict=True):
            place[:] = gradient

    def logits(self, vectors: Singles) -> Singles:
        """Return what the classifier says of vectors behind the settled mask: above zero for the concept."""
        seen = [vectors * self.gates.settled()]
        seen += [np.empty((len(vectors), len(bias)), np.float32) for bias in self.classifier.values[1::2]]
        return self._forwards(seen)[:, 0]

    def _forwards(self, seen: list[Singles]) -> Singles:
        """Write what each layer makes of what it sees, and return the logits, one column."""
        weights, biases = self.classifier.values[::2], self.classifier.values[1::2]
        for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            np.matmul(seen[layer], weight, out=seen[layer + 1])
            if layer < len(weights) - 1:
                rectify(seen[layer + 1], bias)
        return seen[-1] + biases[-1]

    def _backwards(self, error: Singles, seen: list[Singles]) -> None:
        """Put the classifier's gradients in their place."""
        weights, gradients = self.classifier.values[::2], self.classifier.gradients
        gradients[-1][:] = error.sum(0)
        for layer in range(len(weights) - 1, 0, -1):
            np.matmul(seen[layer].T, error, out=gradients[2 * layer])
            error = np.matmul(error, weights[layer].T, out=self._errors[layer - 1][: len(error)])
            # What the ReLU has cut off had no part in the error.
            cut(error, seen[layer], gradients[2 * layer - 1])
        np.matmul(seen[0].T, error, out=gradients[0])
