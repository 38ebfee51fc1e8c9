"""
Quantiles
=========

CO₂ above Mauna Loa: the tenth and ninetieth percentile of next week.
"""

import matplotlib.pyplot as plt
from statsmodels.datasets import co2

import burkholder as bk

series = co2.load_pandas().data["co2"].dropna()
rows = [{"week": when.to_pydatetime(), "last": last} for when, last in zip(series.index[1:], series.iloc[:-1])]
y = series.iloc[1:].to_numpy()
figure, axes = plt.subplots()
axes.plot(series.index[-200:], y[-200:], "k.", markersize=3)
for q in (0.1, 0.9):
    run = bk.Auto("pinball", quantile=q).run(rows, y)
    axes.plot(series.index[-200:], run.predictions[-200:], label=f"quantile {q}: {(y <= run.predictions).mean():.2f} below")
axes.legend()
