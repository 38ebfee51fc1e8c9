"""
Recommending
============

Twenty wines rated by three made-up tasters' rules on real measurements.
"""

import numpy as np
from sklearn.datasets import load_wine

import burkholder as bk

data = load_wine(as_frame=True).frame.iloc[::9].reset_index(drop=True)
likes = {"ann": "alcohol", "bob": "hue", "cid": "proline"}
rng = np.random.default_rng(0)
pairs = [(taster, f"wine {k}") for taster in likes for k in range(len(data))]
rng.shuffle(pairs)
ranks = data.rank(pct=True)
stars = [1 + round(4 * ranks[likes[taster]][int(wine.split()[1])]) for taster, wine in pairs]
learner = bk.MatrixCompletion(low=1, high=5)
run = learner.run([taster for taster, _ in pairs], [wine for _, wine in pairs], stars)
print(f"mean absolute error {learner.mae:.2f} stars; for ann: {learner.top('ann', 3, seen=True)}")
figure = run.plot()
