"""
Regression beside its baselines
===============================

scikit-learn's diabetes table: the best constant, and the learner.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import burkholder as bk

X, y = load_diabetes(return_X_y=True, as_frame=True)
run = bk.Auto("absolute").run(X, y)
rounds = np.arange(1, len(y) + 1)
figure, axes = plt.subplots()
axes.plot(rounds, np.cumsum(run.losses) / rounds, label="Auto")
axes.plot(rounds, np.cumsum(np.abs(y - y.median())) / rounds, label="the median, known beforehand")
axes.legend()
axes.set(xlabel="rows", ylabel="mean absolute error so far")
