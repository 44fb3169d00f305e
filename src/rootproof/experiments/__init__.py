"""The engine of interventions: tracing, probing, mutants and cold confirmation pairs."""
