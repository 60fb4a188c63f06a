"""The parts of scripts/port-models.

`masks`, `words` and `source` read Swift, `declarations` finds what is declared, `expressions` what it says, `names`
which declaration a name means and `scopes` what functions declare for themselves. `folder` tells which classes are
models, `boxes` which boxes become variables. `rules` ports a source, with the rules for classes, for functions that
name properties, for variables, for collections, for imports and for what else is Objective-C's in files of their own;
`edits` are its changes.
"""
