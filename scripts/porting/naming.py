"""What `primaryKey()`, `indexedProperties()` and `ignoredProperties()` say, and which of them go."""
from collections import namedtuple

from .boxes import has_no_value, is_shared
from .declarations import bare, innermost, is_observed, type_words
from .expressions import KINDS, NAMING, is_objective, name_in, names_in, returned
from .names import Outside
from .variables import Said

# What became of a class: itself, its functions that name properties, which of them stand in it
# itself, and names: what is stored now, what is stored at all, what should be and is not, what is
# declared, and what has to be named where it is not stored.
Ported = namedtuple("Ported", "type_ functions inside stored kept unported own refused")


def named_by(function):
    """The properties that `primaryKey()` and its like name; None when they do more."""
    body = returned(function.source, function)
    if not body:
        return None
    if function.name != "primaryKey":
        return names_in(function.source, *body)
    name = name_in(function.source, *body)
    return [name] if name else None


def instance_variables(variables):
    return [variable for found in variables if not is_shared(found) for variable in found.names]


def is_hidden(found, source):
    """Whether a subclass in a source does not see what is declared."""
    words = found.access()
    return "private" in words or "fileprivate" in words and found.source is not source


class NamingRules:
    """Rules of `Port` for functions that name properties."""

    def _ported(self, type_):
        """Ports the variables of a class, with what `primaryKey()` and its like say of them."""
        variables, _ = self.folder.members[type_]
        source = type_.source
        functions = self._declarations(type_)
        named = {name: [] for name in NAMING}
        for name, declared in functions.items():
            # Of several, and of one under a condition, it is not known which counts.
            if len(declared) == 1 and not self._is_conditional(declared[0]):
                named[name] = named_by(declared[0]) or []
        if self._has_other_key(type_, functions):
            named["primaryKey"] = []
        roles = {name: "primaryKey: true" for name in named["primaryKey"]}
        for name in named["indexedProperties"]:
            roles.setdefault(name, "indexed: true")
        mixed = any(v.has("@Persisted") for v in variables)
        said = Said(roles, set(named["ignoredProperties"]), mixed, self._taken(type_))
        stored, unported, own, refused = set(), set(), set(), set()
        for found in variables:
            stored_now, left_now = self._variables(found, said)
            stored |= stored_now
            unported |= left_now
            for variable in found.names:
                own.add(bare(source.tokens[variable.name].text))
                if not self._may_be_unnamed(source, found, variable):
                    refused.add(bare(source.tokens[variable.name].text))
        kept = {bare(source.tokens[n.name].text) for v in variables if v.has("@Persisted") for n in v.names}
        inside = {id(function) for function in self.folder.members[type_][1]}
        return Ported(type_, functions, inside, stored, stored | kept, unported, own, refused)

    def _taken(self, type_):
        """The names whose wrapper `_name` a member of the class has already, or one that it inherits and sees."""
        found = set()
        for part in self.folder.meanings_of(type_):
            variables, functions = self.folder.members_of(part)
            found.update(bare(part.source.tokens[v.name].text) for v in instance_variables(variables))
            found.update(f.name for f in functions if not f.is_shared() and f.parameters[1] == f.parameters[0] + 1)
        for above in self.folder.above(type_):
            for part in self.folder.meanings_of(above):
                variables = [v for v in self.folder.members_of(part)[0] if not is_hidden(v, type_.source)]
                found.update(bare(part.source.tokens[v.name].text) for v in instance_variables(variables))
        return {name.removeprefix("_") for name in found if name.startswith("_")}

    def _has_other_key(self, type_, functions):
        """Whether a class above or below has another primary key, which its own variable could not declare."""
        own = [named_by(function) for function in functions.get("primaryKey", [])]
        for other in self.folder.models:
            if other is not type_ and (type_ in self.folder.above(other) or other in self.folder.above(type_)):
                keys = self._declarations(other).get("primaryKey", [])
                if own and any(named_by(key) not in own for key in keys):
                    return True
        return False

    def _may_be_unnamed(self, source, found, variable):
        """Whether the opening takes a variable that is not stored although `ignoredProperties()` does not name it."""
        if is_shared(found) or (variable.block and not is_observed(source, variable.block)):
            return True
        made = self.folder.made(source, found, variable)
        if made and made.kind:
            return False
        if variable.type:
            words = type_words(source, *variable.type)
            meant = self.folder.names.find(words, source, found.index)
            return not isinstance(meant, Outside) or not meant.words or meant.words[-1] not in KINDS
        if is_objective(found) or found.has("dynamic") or has_no_value(source, variable):
            return True
        return bool(made) and made.name[:1].isupper()

    def _declarations(self, type_):
        """`primaryKey()` and its like of a class, wherever they stand, by their names."""
        found = {}
        for other in self.folder.meanings_of(type_):
            for function in self.folder.members_of(other)[1]:
                if function.name in NAMING:
                    found.setdefault(function.name, []).append(function)
        return found

    def _is_conditional(self, function):
        """Whether a function is compiled under a condition that the type around it is not."""
        source = function.source
        place = source.tokens[function.index].start
        around = innermost(self.folder.types[source], function.index)
        is_apart = around.kind == "extension"
        return any(begin <= place < end and (is_apart or not begin <= source.tokens[around.index].start)
                   for begin, end in source.conditional)

    def _named(self, function, ported, is_doubled):
        """Removes a function whose words the variables now have."""
        name, names = function.name, named_by(function)
        around = innermost(self.folder.types[self.source], function.index)
        inside = id(function) in ported.inside
        counts = "it still counts" if inside else "move it out of the extension, into the class"
        place = self.source.tokens[function.index].start
        if self._is_conditional(function) or is_doubled:
            self.leave(place, f"'{name}()' stays, as it is compiled under a condition; {counts}")
        elif names is None:
            self.leave(place, f"'{name}()' does more than to name properties; {counts}")
        elif self.folder.is_called(name, self.folder.meant(around)):
            self.leave(place, f"'{name}()' stays, as it is called; {counts}", "note" if inside else "left")
        elif name == "primaryKey" and self._has_other_key(ported.type_, ported.functions):
            self.leave(place, f"'primaryKey()' stays, as a class above or below names another one; {counts}")
        elif name == "ignoredProperties":
            refused = sorted(set(names) & ported.refused)
            if refused:
                self.leave(place, f"'{name}()' stays for {', '.join(refused)}, which it may have to name; {counts}")
            elif ported.kept and set(names) <= ported.own and not set(names) & ported.unported:
                self._remove_function(function)
            else:
                self.leave(place, "'ignoredProperties()' stays: it names what is not declared here, "
                                  "or nothing of the class is stored")
        elif set(names) <= ported.stored:
            self._remove_function(function)
        else:
            missing = ", ".join(sorted(set(names) - ported.stored))
            self.leave(place, f"'{name}()' stays: {missing} is no property that was ported here; {counts}")
