"""
Which features matter
=====================

How far one standard deviation of each feature moves the log-odds.
"""

from importlib.resources import files

elec = str(files("burkholder") / "data" / "elec.csv.gz")

import burkholder as bk

X, y = zip(*bk.read(elec, target="target"))
learner = bk.Auto("logistic")
learner.run(list(X), y, trace=0)
figure = learner.plot_importances()
