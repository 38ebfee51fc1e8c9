"""
Labels that come late
=====================

Each label comes 48 rounds later: what is learned is what was played then.
"""

from importlib.resources import files

elec = str(files("burkholder") / "data" / "elec.csv.gz")

from collections import deque

import matplotlib.pyplot as plt
import numpy as np

import burkholder as bk

figure, axes = plt.subplots()
rows = list(bk.read(elec, target="target"))[:4000]
for delay in (0, 48):
    learner, waiting, paid = bk.Auto("logistic"), deque(), []
    for x, label in rows:
        ticket = learner.play(x)
        paid.append(np.logaddexp(0.0, -(2 * label - 1) * ticket.prediction))
        waiting.append((ticket.id, label))
        if len(waiting) > delay:
            learner.reveal(*waiting.popleft())
    axes.plot(np.cumsum(paid) / np.arange(1, len(paid) + 1), label=f"{delay} rounds late")
axes.legend()
axes.set(xlabel="rows", ylabel="log loss so far")
