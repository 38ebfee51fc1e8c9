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

# beside it: the mean of the country so far
sums, counts, plain = {}, {}, []
for country, value in zip(countries, seen):
    plain.append(abs(sums.get(country, 0.0) / max(counts.get(country, 0), 1) - value))
    sums[country], counts[country] = sums.get(country, 0.0) + value, counts.get(country, 0) + 1

figure, axes = plt.subplots(figsize=(8, 3.4))
for name, found in (("the country's mean so far", plain), ("MatrixCompletion", errors)):
    axes.plot(np.arange(299, len(found)), np.convolve(found, np.full(300, 1 / 300), "valid"), label=name)
axes.set(xlabel="entries", ylabel="births a prediction is wrong by", title="the last 300 entries", ylim=(0, None))
axes.legend(frameon=False)
