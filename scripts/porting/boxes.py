"""Boxes, `RealmOptional` and `RealmProperty`: which of them become optional variables, and where they are used.

A box is told by its name, since what stands before `.value` has no type here. So all boxes of one name become
variables, or none of them does: where one is passed on, or where the name may mean something else that has a `value`.
"""
import os
import re

from .declarations import bare, innermost, is_observed, is_word, type_name
from .expressions import BOXES, SCALARS, behind_module, is_member, is_value
from .names import Outside

MEMBER, OWN = "member", "own"


class Boxes:
    def __init__(self, folder):
        self.folder = folder
        self.declared = {}  # name: [variable]
        self.owners = {}    # name: the classes that declare it
        self.kept = {}      # name: why boxes of that name stay
        self._find()
        for name in self.declared:
            for text in folder.unread:
                if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                    self.keep(name, "a source that could not be read may use it")
        self._other_members()
        self.uses = {source: self._uses(source) for source in folder.sources if self.declared}

    def keep(self, name, reason):
        self.kept.setdefault(name, reason)

    def become_variables(self, name):
        return name in self.declared and name not in self.kept

    def _find(self):
        for type_, (variables, _) in self.folder.members.items():
            for found in variables:
                if is_shared(found):
                    continue
                for variable in found.names:
                    if self._is_box(type_.source, found, variable):
                        name = bare(type_.source.tokens[variable.name].text)
                        self.declared.setdefault(name, []).append(variable)
                        self.owners.setdefault(name, set()).update(self.folder.meant(type_))

    def _is_box(self, source, found, variable):
        if variable.block and not is_observed(source, variable.block):
            return False
        made = self.folder.made(source, found, variable)
        if made and made.kind in BOXES:
            return True
        return self.folder.declared_kind(source, found, variable) in BOXES

    # What else has the name of a box

    def _other_members(self):
        """Other members with the name of a box whose own `value` cannot be ruled out."""
        for types in self.folder.types.values():
            for type_ in types:
                for found in self.folder.members_of(type_)[0]:
                    for variable in found.names:
                        name = bare(type_.source.tokens[variable.name].text)
                        if name not in self.declared or variable in self.declared[name]:
                            continue
                        if not has_no_value(type_.source, variable):
                            place = self._at(type_.source, variable.name)
                            self.keep(name, f"'{type_.name}' has another '{name}'{place}")

    def _at(self, source, token):
        return f" ({os.path.basename(source.name)}:{source.line(source.tokens[token].start)})"

    # Uses

    def _uses(self, source):
        """The places of `.value` of boxes; what is done with a box besides keeps all of its name."""
        scopes = self.folder.scopes(source)
        found = []
        for k, token in enumerate(source.tokens):
            name = bare(token.text)
            if name not in self.declared or k in scopes.names:
                continue
            use = self._member(source, k) if source.tokens[k - 1].text == "." and k else self._own(source, scopes, k)
            if use in (MEMBER, OWN):
                if is_value(source.tokens, k):
                    found.append(k)
                else:
                    self.keep(name, f"it is used without '.value'{self._at(source, k)}")
            elif use:
                self.keep(name, use + self._at(source, k))
        return found

    def _member(self, source, k):
        """What a name behind a dot is."""
        tokens = source.tokens
        if not is_member(tokens, k) or _is_called(tokens, k):
            return None
        before = tokens[k - 2]
        if before.text == "self" and tokens[k - 3].text != ".":
            return self._member_of(innermost(self.folder.types[source], k), source, k)
        if is_word(before.text) and before.text[0].isupper() and tokens[k - 3].text != "\\":
            # A case, or a member of the type itself.
            if not isinstance(self.folder.names.find([before.text], source, k), Outside):
                return None
        return MEMBER

    def _own(self, source, scopes, k):
        """What a name with nothing before it is."""
        tokens = source.tokens
        if self._is_label(source, scopes, k):
            return self._part_of_tuple(source, scopes, k)
        if scopes.is_local(k) or _is_called(tokens, k):
            return None
        return self._member_of(innermost(self.folder.types[source], k), source, k)

    def _member_of(self, around, source, k):
        """What a name is that means a member of the type around it, or nothing of it."""
        tokens = source.tokens
        name = bare(tokens[k].text)
        if around is None:
            return None
        if self._has(around, name):
            return OWN
        is_known = around.kind in ("class", "struct", "enum", "actor") or any(
            t.kind != "protocol" for t in self.folder.meant(around))
        if not is_known and is_value(tokens, k):
            return f"what '{name}' is cannot be told"
        return None

    def _is_label(self, source, scopes, k):
        """Whether a name in brackets is only the label of what follows."""
        tokens = source.tokens
        opening = scopes.brackets[k]
        return opening is not None and tokens[opening].text == "(" and tokens[k + 1].text == ":" \
            and tokens[k - 1].text in ("(", ",")

    def _part_of_tuple(self, source, scopes, k):
        """A reason when a label is that of a part of a tuple which may have a `value` of its own."""
        tokens = source.tokens
        opening = scopes.brackets[k]
        before = tokens[opening - 1]
        is_call = is_word(before.text) or before.text in (">", ")", "]", "?")
        if is_call and before.end == tokens[opening].start:
            return None
        end = k + 2
        while tokens[end].text not in (",", ")"):
            end = source.partner[end] + 1 if tokens[end].text in ("(", "[", "{") else end + 1
        first, last = tokens[k + 2].text, tokens[end - 1].text
        if last == "value" or first in SCALARS or first[0].isdigit() or first[0] in '"-[' or first in PLAIN:
            return None
        return f"a part of a tuple is called '{bare(tokens[k].text)}', too"

    def _has(self, type_, name):
        """Whether a type has a box of that name, by itself or inherited."""
        above, seen = list(self.folder.meant(type_)), set()
        while above:
            one = above.pop()
            if one in self.owners.get(name, ()):
                return True
            if one not in seen:
                seen.add(one)
                found = self.folder.names.superclass(one)
                above += found if isinstance(found, list) else []
        return False

    def is_assigned(self, name):
        """Whether some source may assign a box of that name as a whole."""
        for source in self.folder.sources:
            tokens = source.tokens
            for k, token in enumerate(tokens[:-1]):
                if bare(token.text) != name or k in self.folder.scopes(source).names:
                    continue
                following = [t.text for t in tokens[k + 1:k + 3]]
                if following[0] in (",", ")") and tokens[k - 1].text != "\\" or tokens[k - 1].text == "&":
                    return True
                if following[0] == "=" and following[1:] != ["="]:
                    return True
        return False


PLAIN = {"true", "false", "nil"}


def is_shared(found):
    """Whether what is declared belongs to the type itself."""
    return any(t.text in ("static", "class") for t in found.modifiers())


def has_no_value(source, variable):
    """Whether a member plainly is a number, a text and so on, or a collection of these."""
    if variable.type:
        if source.tokens[variable.type[0]].text == "[":
            return True
        return type_name(source, *variable.type).removeprefix("RealmSwift.") in SCALARS
    if not variable.value:
        return False
    first = source.tokens[behind_module(source, variable.value[0])].text
    return first in SCALARS or first in PLAIN or first[0].isdigit() or first[0] in '"-['


def _is_called(tokens, k):
    """Whether a name is that of a function: a box cannot be called."""
    return k + 1 < len(tokens) and tokens[k + 1].text == "(" and tokens[k + 1].start == tokens[k].end
