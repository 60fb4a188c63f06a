"""What scripts/port-models changes: declarations of the older style, in classes that a Realm holds.

A folder is read as a whole first (folder.py): which classes are models, which variables are boxes and how they are
used, which enumerations are stored. Then each source is changed by itself: classes.py, variables.py, collections.py,
and here what belongs to none of them. What is met and left alone is said, with its reason.
"""
from .classes import ClassRules
from .collections import CollectionRules
from .declarations import bare, first_of, read_members
from .expressions import SCALARS, imports, is_member, is_objective, is_value
from .source import Edits
from .variables import VariableRules


class Port(ClassRules, VariableRules, CollectionRules):
    """The changes of one source."""

    def __init__(self, folder, source):
        self.folder = folder
        self.source = source
        self.edits = Edits(source)
        self.left = []
        self.told = set()

    def run(self):
        for type_ in self.folder.types[self.source]:
            if self.folder.is_model(type_):
                self._model(type_)
            elif self.folder.extends_model(type_):
                self._extension(type_)
            elif type_ in self.folder.enums:
                self._enum(type_)
            elif type_.kind == "class":
                self._unknown(type_)
        self._values()
        self._import()
        self.left.sort()
        return self.edits.applied()

    def leave(self, place, words, kind="left"):
        note = (self.source.line(place), kind, words)
        if note not in self.told:
            self.told.add(note)
            self.left.append(note)

    # MARK: Other declarations

    def _enum(self, type_):
        source, tokens = self.source, self.source.tokens
        objective = type_.attribute("@objc")
        if objective:
            self._remove_tokens(*objective)
        names = [name for name, _, _ in type_.inherited]
        if "PersistableEnum" in names:
            return
        for name, first, behind in type_.inherited:
            if name == "RealmEnum":
                self.edits.replace(tokens[first].start, tokens[behind - 1].end, "PersistableEnum")
                return
        if type_.inherited:
            self.edits.insert(tokens[type_.inherited[-1][2] - 1].end, ", PersistableEnum")

    def _unknown(self, type_):
        """A class of old properties whose superclass is not among the sources."""
        if not type_.inherited or not imports(self.source, "RealmSwift"):
            return
        above = type_.inherited[0][0]
        known = {t.name for types in self.folder.types.values() for t in types}
        if above in known or above.startswith("NS") or above.startswith("UI"):
            return
        variables, _ = read_members(type_)
        if any(is_objective(v) and v.has("dynamic") for v in variables):
            self.leave(
                self.source.tokens[type_.index].start,
                f"'{type_.name}': whether '{above}' is a class of a Realm is not told by these sources")

    def _values(self):
        """`.value` of boxes that are boxes no more."""
        tokens = self.source.tokens
        for k, token in enumerate(tokens):
            name = bare(token.text)
            if name in self.folder.boxes and is_value(tokens, k) and (
                    is_member(tokens, k) or self._is_own_box(k, name)):
                self.edits.replace(tokens[k + 1].start, tokens[k + 2].end, "")

    def _is_own_box(self, k, name):
        """Whether a name without anything before it is a box of the class around it, and no parameter or constant."""
        tokens = self.source.tokens
        around = [t for t in self.folder.types[self.source] if t.body[0] < k < t.body[1]]
        if not around or around[-1] not in self.folder.members or not self.folder.has_box(around[-1], name):
            return False
        for function in self.folder.members[around[-1]][1]:
            if function.body and function.body[0] < k < function.body[1]:
                for j in range(function.parameters[0], function.body[1]):
                    if bare(tokens[j].text) != name:
                        continue
                    following = [t.text for t in tokens[j + 1:j + 6]]
                    if j < function.parameters[1]:
                        # A number or text has no `value`; a label before another name is no name of a value.
                        if following[0] == ":" and following[1] not in SCALARS:
                            return False
                    elif following[0] == "in" or tokens[j - 1].text == "for" or (
                            tokens[j - 1].text in ("let", "var") and following[:4] != ["=", name, ".", "value"]):
                        return False
        return True

    def _import(self):
        source, tokens = self.source, self.source.tokens
        names = sorted({t.text for t in tokens if t.text.startswith("RLM") and t.text != "RLMIterator"})
        for k in range(len(tokens) - 1):
            if tokens[k].text != "import" or tokens[k + 1].text != "Realm":
                continue
            place = tokens[k].start
            if k + 2 < len(tokens) and tokens[k + 2].text == "." and not tokens[k + 2].newline:
                self.leave(place, "a part of the Objective-C interface, which is not there; remove the import")
            elif names:
                self.leave(place, f"'import Realm' stays for {', '.join(names)}: name the product 'Realm' in the "
                                  "manifest")
            elif any(begin <= place < end for begin, end in source.conditional):
                self.leave(place, "'import Realm' stays, as it is compiled under a condition")
            elif first_of(source, k) != k and tokens[k - 1].text != "@preconcurrency":
                self.leave(place, "'import Realm' stays for its attribute")
            elif not imports(source, "RealmSwift"):
                self.leave(place, "'import Realm' stays: without RealmSwift nothing would be imported")
            else:
                self._remove_tokens(first_of(source, k), k + 2)
