"""What scripts/port-models changes: declarations of the older style, in classes that a Realm holds.

A folder is read as a whole first (folder.py): which classes are models, which variables are boxes and how they are
used, which enumerations are stored. Then each source is changed by itself: classes.py, naming.py, variables.py,
collections.py, objective.py, imports.py, and here what belongs to none of them. What is met and left alone is said,
with its reason.
"""

from .classes import ClassRules
from .collections import CollectionRules
from .declarations import bare, innermost, is_word
from .edits import Edits
from .expressions import imports, last_word
from .imports import ImportRules
from .masks import Unreadable
from .names import Outside
from .naming import NamingRules
from .objective import ObjectiveRules
from .variables import VariableRules


def decide(folder):
    """Runs all rules without writing until it is clear which boxes become variables, and which enumerations are stored.

    A box that some rule leaves keeps all boxes of its name, and so does a source that could not be changed.
    """
    while True:
        ported = set()
        for source in folder.sources:
            port = Port(folder, source)
            try:
                port.run()
            except (Unreadable, IndexError, KeyError, ValueError):
                folder.fixed.add(source)
            if source not in folder.fixed:
                ported |= port.ported
        boxes = folder.boxes
        for source in folder.fixed:
            for k in boxes.uses.get(source, ()):
                boxes.keep(bare(source.tokens[k].text), f"{source.name} cannot be changed, and uses it")
        missed = [name for name, variables in boxes.declared.items()
                  if name not in boxes.kept and not ported.issuperset(variables)]
        if not missed:
            break
        for name in missed:
            boxes.keep(name, "another box of that name is left")
    # A run more, as enumerations may be noted behind their own source.
    for source in folder.sources:
        if source not in folder.fixed:
            Port(folder, source).types()


class Port(ClassRules, NamingRules, VariableRules, CollectionRules, ObjectiveRules, ImportRules):
    """The changes of one source."""

    def __init__(self, folder, source):
        self.folder = folder
        self.source = source
        self.edits = Edits(source)
        self.left = []
        self.told = set()
        self.ported = set()   # boxes that become variables
        self.wraps = False    # whether something of the interface is named that was not
        self.removed = set()  # functions
        self.spoken = []      # types of which is said what to do

    def run(self):
        self.types()
        self._values()
        self._key_paths()
        self._leftovers()
        self._imports()
        for begin, end in self.edits.lost_comments():
            self.leave(begin, f"a comment goes: {self.source.text[begin:end].splitlines()[0]}", "note")
        self.left.sort()
        return self.edits.applied()

    def types(self):
        for type_ in self.folder.types[self.source]:
            if self.folder.is_model(type_):
                self._model(type_)
            elif self.folder.extends_model(type_):
                self._extension(type_)
            elif type_ in self.folder.enums:
                self._enum(type_)
            elif type_.kind == "class":
                self._unknown(type_)
            elif type_.kind == "protocol":
                self._protocol(type_)

        for type_ in self.folder.types[self.source]:
            if type_ in self.folder.members:
                self._finish(type_)

    def leave(self, place, words, kind="left"):
        note = (self.source.line(place), kind, words)
        if note not in self.told:
            self.told.add(note)
            self.left.append(note)

    def _is_under_condition(self, place):
        return any(begin <= place < end for begin, end in self.source.conditional)

    # MARK: Other declarations

    def _enum(self, type_):
        source, tokens = self.source, self.source.tokens
        objective = type_.attribute("@objc")
        if objective:
            self._remove_tokens(*objective)
        names = [last_word(name) for name, _, _ in type_.inherited]
        if "PersistableEnum" in names:
            return
        self.wraps = True
        for name, _, behind in type_.inherited:
            if last_word(name) == "RealmEnum":
                self.edits.replace(tokens[behind - 1].start, tokens[behind - 1].end, "PersistableEnum")
                return
        if type_.inherited:
            self.edits.insert(tokens[type_.inherited[-1][2] - 1].end, ", PersistableEnum")

    def _values(self):
        """`.value` of boxes that are boxes no more."""
        tokens = self.source.tokens
        for k in self.folder.boxes.uses.get(self.source, ()):
            if self.folder.boxes.become_variables(bare(tokens[k].text)):
                self.edits.replace(tokens[k + 1].start, tokens[k + 2].end, "")

    def _key_paths(self):
        """`#keyPath(Dog.name)` of a model becomes "name"."""
        source, tokens = self.source, self.source.tokens
        for k, token in enumerate(tokens):
            if token.text != "#keyPath" or tokens[k + 1].text != "(":
                continue
            end = source.partner[k + 1]
            words = [bare(t.text) for t in tokens[k + 2:end:2]]
            plain = all(t.text == "." for t in tokens[k + 3:end:2]) and all(is_word(word) for word in words)
            model = self._models_of(words[:-1], k) if plain else 0
            own = len(words) == 1 and innermost(self.folder.types[source], k) in self.folder.members
            if plain and (model or own):
                self.edits.replace_if_free(token.start, tokens[end].end, f'"{".".join(words[model:])}"')
            elif imports(source, "RealmSwift") and self.edits.is_free(token.start):
                self.leave(token.start, "Linux has no '#keyPath'; write the name as text")

    def _models_of(self, words, k):
        """How many words at the beginning of a path name a model; 0 where they do not."""
        for length in range(len(words), 0, -1):
            found = self.folder.names.find(words[:length], self.source, k)
            if not isinstance(found, Outside):
                return length if all(self.folder.is_model(one) for one in found) else 0
        return 0
