"""Evaluation: data sets, metrics, judges, experiments and their reports. Uses the engine as any caller would."""
