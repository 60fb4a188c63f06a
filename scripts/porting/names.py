"""Which declaration a type's name means, where it is written: by what it stands in, not by the name alone."""
from .declarations import bare, behind_type, first_of, innermost, type_words


class Outside:
    """A name that none of the sources declares: its words, and the source that says them."""

    def __init__(self, words, source):
        self.words = words
        self.source = source


class Names:
    """The types of all sources by their names."""

    def __init__(self, types):
        self.types = types
        self.table = {}    # path: types that are declared there
        self.aliases = {}  # path: [(source, token, words)]
        self.above = {}    # class: what `superclass` found
        self.locals = {}   # source: types that are declared in functions
        for source, found in types.items():
            self._read_aliases(source)
        for source, found in types.items():
            for type_ in found:
                if type_.block:
                    self.locals.setdefault(source, []).append(type_)
                if type_.kind != "extension":
                    self.table.setdefault(self.path(type_), []).append(type_)

    def _read_aliases(self, source):
        tokens = source.tokens
        for k in range(len(tokens) - 3):
            if tokens[k].text == "typealias" and tokens[k + 2].text == "=":
                path = self._scope(source, k) + (bare(tokens[k + 1].text),)
                words = type_words(source, k + 3, behind_type(source, k + 3, len(tokens)))
                self.aliases.setdefault(path, []).append((source, k, words))

    def path(self, type_):
        """What a type is called from outside of all; one of a function by its place."""
        if type_.kind == "extension":
            return tuple(type_.words)
        around = self.path(type_.outer) if type_.outer else ()
        return around + ((f"{type_.source.name}:{type_.index}",) if type_.block else (type_.name,))

    def _scope(self, source, index):
        around = innermost(self.types[source], index)
        return self.path(around) if around else ()

    def find(self, words, source, index, depth=0):
        """The types that a name at a token can mean; `Outside` when it is none of these sources."""
        if not words or words[0] == "RealmSwift" or depth > 8:
            return Outside(words, source)
        for type_ in reversed(self.locals.get(source, [])):
            if type_.name == words[0] and type_.block[0] < index < type_.block[1]:
                return self._within(self.path(type_), words, source, depth)
        scope = self._scope(source, index)
        for length in range(len(scope), -1, -1):
            path = scope[:length] + (words[0],)
            if self._sees(source, path):
                return self._within(path, words, source, depth)
        if len(words) > 1 and (words[1],) in self.table:
            # The first word is a module.
            return self._within((words[1],), words[1:], source, depth)
        return Outside(words, source)

    def _sees(self, source, path):
        """Whether a source sees something that is declared at a path; what is private only its own source does."""
        types = [(type_.source, type_.first, type_.index) for type_ in self.table.get(path, [])]
        aliases = [(other, first_of(other, k), k) for other, k, _ in self.aliases.get(path, [])]
        return any(other is source or not is_private(other, first, k) for other, first, k in types + aliases)

    def _within(self, path, words, source, depth):
        """Goes from the first word of a name to its last."""
        for word in list(words[1:]) + [None]:
            if path not in self.table and path in self.aliases:
                meant = [a for a in self.aliases[path] if a[0] is source] or self.aliases[path]
                found = self.find(meant[0][2], meant[0][0], meant[0][1], depth + 1)
                if word is None or isinstance(found, Outside) or not found:
                    return found if word is None else Outside(words, source)
                path = self.path(found[0])
            if word is not None:
                path += (word,)
        found = self.table.get(path)
        if not found:
            return Outside(words, source)
        return [t for t in found if t.source is source] or found

    def superclass(self, type_):
        """What a class names first behind its colon; None when it names nothing."""
        if type_.kind != "class" or not type_.inherited:
            return None
        if type_ not in self.above:
            self.above[type_] = self._superclass(type_)
        return self.above[type_]

    def _superclass(self, type_):
        _, first, behind = type_.inherited[0]
        return self.find(type_words(type_.source, first, behind), type_.source, type_.index)

    def extended(self, type_):
        """The types that an extension extends, which it can do outside of all others only."""
        found = self.find(type_.words, type_.source, type_.index) if type_.kind == "extension" else []
        return [] if isinstance(found, Outside) else found


def is_private(source, first, behind):
    """Whether the modifiers of a declaration keep it to its source."""
    return any(token.text in ("private", "fileprivate") for token in source.tokens[first:behind])
