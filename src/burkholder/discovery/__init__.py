"""Discovery: give the machine T and V, get U, the constant and a proof (`sec:discussion` of the paper)."""

from burkholder.discovery.catalogue import names, problem
from burkholder.discovery.problems import Problem
from burkholder.discovery.program import NotFound
from burkholder.discovery.result import Found, FoundFunction, ProofCertificate
from burkholder.discovery.search import discover
from burkholder.discovery.statistics import Statistic, suggest

__all__ = ["Found", "FoundFunction", "NotFound", "Problem", "ProofCertificate", "Statistic", "discover", "names", "problem", "suggest"]
