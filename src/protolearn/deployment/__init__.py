"""Fitted models beyond the process that made them: files that are safe to load."""

from protolearn.deployment._models import load, save

__all__ = ["load", "save"]
