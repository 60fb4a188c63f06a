"""The parts of scripts/port-models.

`source` reads Swift, `declarations` finds what is declared, `expressions` what it says, `folder` which classes are
models; `rules` ports a source, with the rules for classes, variables and collections in files of their own.
"""
