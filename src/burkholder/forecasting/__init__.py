"""At home among forecasting libraries: tables of cross-validated forecasts (Nixtla), weights of an online ensemble (sktime)."""

from burkholder.forecasting.tables import Combiner as Combiner
from burkholder.forecasting.weights import Weights as Weights
