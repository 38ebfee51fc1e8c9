"""A prediction service that loses nothing: one process, one log, learners that are functions of it.

Whatever changes a model is an event. Events stand in one order in one log on disk (`store`); they are written in groups
(`journal`), and only then applied (`service`, `model`) and answered. A model is what applying the log gives, so what was
answered is on disk, and a restart comes to the same bits: it applies the same events with the same code.
"""
