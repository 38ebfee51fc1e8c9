"""
Dates become features
=====================

Airline passengers from river: a date gives trend and month by itself.
"""

import matplotlib.pyplot as plt
from river import datasets

import burkholder as bk

rows, y = zip(*datasets.AirlinePassengers())
learner = bk.Auto("absolute")
run = learner.run(list(rows), y)
figure, axes = plt.subplots()
axes.plot([row["month"] for row in rows], y, label="passengers")
axes.plot([row["month"] for row in rows], run.predictions, label="predicted a month before")
axes.legend()
print(sorted(learner.importances())[:5])
