"""
Three numbers of a certificate
==============================

Promised, corrected and realised, on the way.
"""

from importlib.resources import files

elec = str(files("burkholder") / "data" / "elec.csv.gz")

import burkholder as bk

X, y = zip(*list(bk.read(elec, target="target"))[:10000])
run = bk.Learner("adagrad", loss="logistic", radius=3.0, intercept=True).run(list(X), y)
print(run.certificate)
figure = run.plot()
