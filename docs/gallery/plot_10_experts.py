"""
Combining forecasts
===================

Sunspots, forecast by three simple rules; the weights over time.
"""

from statsmodels.datasets import sunspots

import burkholder as bk
from burkholder.experts.run import best_mixture, plot_weights

y = sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()
forecasts = {"last year": y[10:-1], "eleven years ago": y[:-11], "mean of two": 0.5 * (y[10:-1] + y[9:-2])}
run = bk.Experts("absolute").run(forecasts, y[11:])
print(f"aggregate {run.mean_loss:.2f}, best mixture in hindsight {best_mixture(run).loss:.2f}")
figure = plot_weights(run)
