"""What the last residuals say of the next one: a few running numbers, which become features."""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled

# Slots of the memory.
LABELS, LAST_Y, LAST, MEAN, SIZE, SCALE, LARGEST = 0, 1, 2, 3, 4, 5, 6
SLOTS = 7
FAST, SLOW = 0.05, 0.002  # how fast MEAN and SIZE forget, and how slowly SCALE does
FEATURES = 5  # the centre, the last residual and its size, the mean and the mean size of the last ones


def empty() -> np.ndarray:
    """The memory of no label."""
    return np.zeros(SLOTS)


@compiled
def sweep(memory, centre, y, weight, features, scale, labels, learn):
    """Row by row: features, slow scale and number of labels before it; then, where it is to be learned, its label."""
    for t in range(len(centre)):
        features[t, 0] = centre[t]
        features[t, 1] = memory[LAST]
        features[t, 2] = abs(memory[LAST])
        features[t, 3] = memory[MEAN]
        features[t, 4] = memory[SIZE]
        scale[t] = memory[SCALE]
        labels[t] = memory[LABELS]
        if learn and weight[t] > 0.0:
            residual = y[t] - centre[t]
            size = abs(residual)
            memory[LABELS] += 1.0
            first = 1.0 / memory[LABELS]
            memory[LAST_Y], memory[LAST] = y[t], residual
            memory[MEAN] += max(first, FAST) * (residual - memory[MEAN])
            memory[SIZE] += max(first, FAST) * (size - memory[SIZE])
            memory[SCALE] += max(first, SLOW) * (size - memory[SCALE])
            memory[LARGEST] = max(memory[LARGEST], size)
