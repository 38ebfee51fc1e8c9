"""
Phishing, with calibration
==========================

How often it happened, beside how likely it was said to be.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import datasets

import burkholder as bk

rows, y = zip(*datasets.Phishing())
run = bk.Auto("logistic").run(list(rows), [int(label) for label in y])
p = 1.0 / (1.0 + np.exp(-run.predictions))
groups = np.minimum((5 * p).astype(int), 4)
said = [p[groups == g].mean() for g in range(5)]
happened = [np.array(y)[groups == g].mean() for g in range(5)]
figure, axes = plt.subplots()
axes.plot([0, 1], [0, 1], "k:")
axes.plot(said, happened, "o-")
axes.set(xlabel="probability said", ylabel="share that happened")
