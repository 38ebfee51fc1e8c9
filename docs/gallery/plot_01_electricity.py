"""
Electricity prices: up or down
==============================

The shipped stream, learned in one pass. Every row is predicted before it is learned.
"""

from importlib.resources import files

elec = str(files("burkholder") / "data" / "elec.csv.gz")

import burkholder as bk

X, y = zip(*bk.read(elec, target="target"))
run = bk.Auto("logistic").run(list(X), y)
print(run.certificate)
figure = run.plot()
