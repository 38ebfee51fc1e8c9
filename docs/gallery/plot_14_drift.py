"""
Drift, and who follows it
=========================

Half of the stream with its labels turned around: expert advice changes its mind.
"""

from importlib.resources import files

elec = str(files("burkholder") / "data" / "elec.csv.gz")

import matplotlib.pyplot as plt
import numpy as np

import burkholder as bk

rows = list(bk.read(elec, target="target"))[:6000]
y = np.array([label for _, label in rows])
y[3000:] = 1.0 - y[3000:]
yesterday, opposite = np.r_[0.5, y[:-1]], 1.0 - np.r_[0.5, y[:-1]]
price = np.array([x["feat_2"] for x, _ in rows])
run = bk.Experts("squared").run({"as before": yesterday, "the opposite": opposite, "the price": price}, y)
figure, axes = plt.subplots()
axes.plot(run.details["weights"])
axes.legend(run.certificate.names)
axes.set(xlabel="rows", ylabel="weight")
