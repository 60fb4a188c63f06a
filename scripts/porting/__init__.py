"""The parts of scripts/port-models.

`masks` and `source` read Swift, `declarations` finds what is declared, `expressions` what it says, `names` which
declaration a name means and `scopes` what functions declare for themselves. `folder` tells which classes are models,
`boxes` which boxes become variables. `rules` ports a source, with the rules for classes, for functions that name
properties, for variables and for collections in files of their own; `edits` are its changes.
"""
