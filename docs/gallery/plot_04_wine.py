"""
Several classes
===============

Three wines; probabilities of classes that appear on the way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import burkholder as bk

data = load_wine()
order = np.random.default_rng(0).permutation(len(data.target))
learner = bk.AutoMulticlass()
run = learner.run(data.data[order], data.target_names[data.target[order]].tolist())
wrong = np.array(run.predictions) != data.target_names[data.target[order]]
figure, axes = plt.subplots()
axes.plot(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))
axes.set(xlabel="rows", ylabel="progressive error rate")
print(learner.certificate())
