"""The parts of scripts/port-models: `source` reads Swift, `declarations` finds what is declared, `rules` ports it."""
