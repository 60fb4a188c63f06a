"""All sources that are ported together: which classes are models, which boxes and enumerations they use."""
from .boxes import Boxes
from .declarations import innermost, read_members, read_types, type_words
from .expressions import ACCESS, NAMING, ROOTS, imports, kind_of, made_type, read_imports
from .names import Names, Outside
from .scopes import Scopes


class Folder:
    """All sources that are ported together.

    `unread` are the texts of sources that could not be read, `fixed` the sources that cannot be written: what these use
    has to stay as it is.
    """

    def __init__(self, sources, unread=(), fixed=()):
        self.sources = sources
        self.unread = unread
        self.fixed = set(fixed)
        self.types = {source: read_types(source) for source in sources}
        self.names = Names(self.types)
        self.exported = self.is_exported("RealmSwift")
        self.exported_whole = any(imports(source, "RealmSwift", whole=True, exported=True) for source in sources)
        self._members, self._scopes = {}, {}
        self.doubtful = {}  # classes whose superclass can be several: its name
        self.models = self._models()
        self._meant = {t: self.names.extended(t) for types in self.types.values() for t in types
                       if t.kind == "extension"}
        self.members = {}
        for types in self.types.values():
            for type_ in types:
                if self.is_model(type_) or self.extends_model(type_):
                    self.members[type_] = self.members_of(type_)
        self.adopted = self._adopted()
        self.called = self._called()
        self.boxes = Boxes(self)
        self.enums = set()

    def members_of(self, type_):
        """The variables and functions of a type."""
        if type_ not in self._members:
            self._members[type_] = read_members(type_)
        return self._members[type_]

    def scopes(self, source):
        if source not in self._scopes:
            self._scopes[source] = Scopes(source, self.types[source])
        return self._scopes[source]

    def sees_realm(self, source):
        return self.exported or imports(source, "RealmSwift")

    def sees_all_of_realm(self, source):
        """Whether a source sees more than single names of the interface."""
        return self.exported_whole or imports(source, "RealmSwift", whole=True)

    def is_exported(self, module):
        return any(imports(source, module, exported=True) for source in self.sources)

    def new_import(self, module):
        """What a new import says: with an access level where all others of the module have one.

        Swift refuses one without where another in the module has one.
        """
        levels = {found.access for source in self.sources for found in read_imports(source)
                  if found.module == module}
        if not levels or None in levels:
            return f"import {module}"
        # Less than `internal` would not do for a class that other sources see.
        return f"{min([*levels, 'internal'], key=ACCESS.index)} import {module}"

    # What is made of types of the interface

    def made(self, source, found, variable):
        """What a variable's value is made of; without a kind where that is a type of these sources."""
        made = made_type(source, found, variable)
        if made and made.kind and self._is_own(made.name, source, found.index):
            return made._replace(kind=None)
        return made

    def declared_kind(self, source, found, variable):
        """The kind that a variable's written type names; None else."""
        name = ".".join(type_words(source, *variable.type)) if variable.type else ""
        return None if self._is_own(name, source, found.index) else kind_of(name)

    def _is_own(self, name, source, index):
        return not isinstance(self.names.find(name.split("."), source, index), Outside)

    # Which classes are models

    def _models(self):
        own = [t for types in self.types.values() for t in types if t.kind == "class" and t.inherited]
        above = {type_: self.names.superclass(type_) for type_ in own}
        models = {type_ for type_ in own if isinstance(above[type_], Outside) and self._is_root(above[type_])}
        grown = True
        while grown:
            grown = False
            for type_ in own:
                found = above[type_]
                if type_ in models or isinstance(found, Outside):
                    continue
                if found and all(one in models for one in found):
                    models.add(type_)
                    grown = True
        for type_ in own:
            found = above[type_]
            if type_ not in models and not isinstance(found, Outside) and any(one in models for one in found):
                self.doubtful[type_] = found[0].name
        return models

    def _is_root(self, outside):
        words = outside.words
        if len(words) == 2 and words[0] == "RealmSwift":
            return words[1] in ROOTS
        return len(words) == 1 and words[0] in ROOTS and self.sees_realm(outside.source)

    def is_model(self, type_):
        return type_ in self.models

    def extends_model(self, type_):
        found = self._meant.get(type_)
        return bool(found) and all(one in self.models for one in found)

    def _adopted(self):
        """The protocols of these sources that models adopt, and those above them."""
        found, parts = set(), list(self.members)
        while parts:
            part = parts.pop()
            for _, first, behind in part.inherited:
                meant = self.names.find(type_words(part.source, first, behind), part.source, part.index)
                new = [] if isinstance(meant, Outside) else [
                    one for one in meant if one.kind == "protocol" and one not in found]
                found.update(new)
                parts += new
        return found

    def meant(self, type_):
        """The types whose members an extension has; of another type itself."""
        return self._meant.get(type_, [type_]) if type_.kind == "extension" else [type_]

    def meanings_of(self, type_):
        """A type and its extensions."""
        return [type_] + [other for other, meant in self._meant.items() if type_ in meant]

    def above(self, type_):
        """The classes of these sources that a class derives from."""
        found, names = [], [type_]
        while names:
            meant = self.names.superclass(names.pop())
            for one in meant if isinstance(meant, list) else []:
                if one not in found:
                    found.append(one)
                    names.append(one)
        return found

    def _called(self):
        """By `primaryKey()` and its like the classes that some source asks for it; None among them for any class."""
        found = {}
        for source in self.sources:
            tokens = source.tokens
            for k in range(1, len(tokens) - 1):
                if tokens[k].text in NAMING and tokens[k + 1].text == "(" and tokens[k - 1].text != "func":
                    found.setdefault(tokens[k].text, set()).update(self._asked(source, k))
        return found

    def _asked(self, source, k):
        """The classes whose function is called at a token: of `Dog` and `super` it and those above."""
        tokens = source.tokens
        if tokens[k - 1].text != "." or k < 2 or k > 2 and tokens[k - 3].text == ".":
            return {None}
        before = tokens[k - 2].text
        if before == "super":
            around = innermost(self.types[source], k)
            asked = [self.names.superclass(one) for one in self.meant(around)] if around else []
        else:
            asked = [self.names.find([before], source, k)]
        found = set()
        for above in asked:
            while isinstance(above, list) and len(above) == 1 and above[0].kind == "class" and above[0] not in found:
                found.add(above[0])
                above = self.names.superclass(above[0])
        return found if found or before == "super" else {None}

    def is_called(self, name, types):
        return not self.called.get(name, set()).isdisjoint([None, *types])

    def superclass_outside(self, type_):
        """The first class above one that these sources do not declare, or declare more than once; None without one."""
        for one in [type_, *self.above(type_)]:
            if one in self.doubtful:
                return self.doubtful[one]
            found = self.names.superclass(one)
            if isinstance(found, Outside) and found.words:
                return ".".join(found.words)
        return None

    # Enumerations that are stored

    def store(self, source, index, first, behind):
        """Notes the enumerations that the type of a stored variable names."""
        for k in range(first, behind):
            if k > first and source.tokens[k - 1].text == ".":
                continue
            words = type_words(source, k, behind)
            if words:
                self._store(words, source, index)

    def store_case(self, source, index, first, behind):
        """The same for a value such as `Kind.a`; of `Kind.a.rawValue` the number or text is stored."""
        words = type_words(source, first, behind)
        if words[-1:] == ["rawValue"]:
            return
        for length in range(len(words), 0, -1):
            if self._store(words[:length], source, index):
                return

    def _store(self, words, source, index):
        found = self.names.find(words, source, index)
        if isinstance(found, Outside):
            return False
        for type_ in found:
            if type_.kind == "enum" and (
                    type_.attribute("@objc") or is_stored_enum(type_)
                    or self._is_extended(type_)):
                self.enums.add(type_)
        return bool(found)

    def _is_extended(self, type_):
        """Whether an extension makes an enumeration one that is stored."""
        return any(type_ in found and is_stored_enum(extension) for extension, found in self._meant.items())


def is_stored_enum(type_):
    """Whether an enumeration, or an extension of one, says that it is stored."""
    return any(name in ("RealmEnum", "RealmSwift.RealmEnum") for name, _, _ in type_.inherited)
