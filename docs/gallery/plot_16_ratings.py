"""
Filling the gaps of a table
===========================
Births per woman, by country and year: entries in random order, each predicted from those before it, then learned.
Ratings are the same thing, with people for countries and films for years.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fertility

import burkholder as bk

table = fertility.load_pandas().data.set_index("Country Name")
table = table.loc[:, [name for name in table.columns if name.isdigit()]].iloc[::3].stack().dropna()
order = np.random.default_rng(0).permutation(len(table))
countries, years = (table.index.get_level_values(level).to_numpy()[order] for level in (0, 1))

births = bk.MatrixCompletion(low=0.0, high=10.0)
seen = table.to_numpy()[order]
errors = np.abs(births.run(list(countries), list(years), seen).predictions - seen)
print(f"{len(table):,} entries: wrong by {errors.mean():.2f} births, at the end by {errors[-500:].mean():.2f}")

figure, axes = plt.subplots(figsize=(8, 3.4))
for country, colour in zip(("Mali", "Mexico", "Vietnam", "Greece"), ("C0", "C1", "C2", "C3")):
    known = table[country]
    axes.plot(known.index.astype(int), known.to_numpy(), lw=5, alpha=0.3, color=colour)
    axes.plot(known.index.astype(int), [births.predict(country, year) for year in known.index], label=country, color=colour)
axes.set(ylabel="births per woman", title="the table (broad) and what was learned of it")
axes.legend(frameon=False)
