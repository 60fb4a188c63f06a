"""What is changed of a class: its head, its initializers, and the functions whose words its variables take over."""
import re

from .declarations import bare, find_attribute
from .expressions import GONE, name_in, names_in, returned, text_of
from .source import Edits


class ClassRules:
    """Rules of `Port` for classes and their extensions."""

    def _model(self, type_):
        source, tokens = self.source, self.source.tokens
        variables, functions = self.folder.members[type_]
        mixed = any(v.has("@Persisted") for v in variables)
        declarations = self._declarations(type_)
        primary, indexed, ignored = (declarations.get(n, (None, None))[0] for n in
                                     ("primaryKey", "indexedProperties", "ignoredProperties"))
        roles, stored, unported = {}, set(), set()
        if primary:
            roles[primary[0]] = "primaryKey: true"
        for name in indexed or []:
            roles.setdefault(name, "indexed: true")
        for found in variables:
            stored_now, left_now = self._variables(found, roles, set(ignored or []), mixed)
            stored |= stored_now
            unported |= left_now
        kept = stored | {
            bare(tokens[n.name].text) for v in variables if v.has("@Persisted") for n in v.names}
        self._functions(type_, declarations, stored, kept, unported, variables)
        self._head(type_, functions)
        for function in functions:
            self._initializer(type_, function)
            if find_attribute(source, function.first, function.index, "@objc"):
                self.leave(tokens[function.index].start, f"'@objc' of '{function.name}': Linux has none; remove it")
            if function.name in GONE:
                self.leave(tokens[function.index].start, f"'{function.name}()' is none of the interface; remove it")
        own = [f for f in functions if f.name == "init" and not self._is_convenience(f)]
        if own and not any(f.parameters[1] == f.parameters[0] + 1 for f in functions if f.name == "init"):
            self.leave(
                tokens[own[0].index].start,
                f"'{type_.name}' has an initializer of its own: it needs 'required init() {{ super.init() }}', too")

    def _is_convenience(self, function):
        return any(t.text == "convenience" for t in self.source.tokens[function.first:function.index])

    def _declarations(self, type_):
        """What `primaryKey()` and its like say of a class, wherever they stand: (names, function)."""
        found = {}
        for other, (_, functions) in self.folder.members.items():
            if other is not type_ and not (other.kind == "extension" and other.name == type_.name):
                continue
            for function in functions:
                if function.name not in ("primaryKey", "indexedProperties", "ignoredProperties"):
                    continue
                body = returned(other.source, function)
                names = None
                if body and function.name == "primaryKey":
                    name = name_in(other.source, *body)
                    names = [name] if name else None
                elif body:
                    names = names_in(other.source, *body)
                found[function.name] = (names, function)
        return found

    def _functions(self, type_, declarations, stored, kept, unported, variables):
        """Removes the functions whose words the variables now have."""
        own = {bare(self.source.tokens[n.name].text) for v in variables for n in v.names}
        inside = {id(f) for f in self.folder.members[type_][1]}
        for name, (names, function) in declarations.items():
            counts = "it still counts" if id(function) in inside else "move it out of the extension, into the class"
            if function.source is not self.source:
                # It stands in an extension in another source, which removes it by the same rule.
                continue
            place = self.source.tokens[function.index].start
            if names is None:
                self.leave(place, f"'{name}()' does more than to name properties; {counts}")
            elif name == "ignoredProperties":
                if kept and set(names) <= own and not set(names) & unported:
                    self._remove_function(function)
                else:
                    self.leave(place, "'ignoredProperties()' stays: it names what is not declared here, "
                                      "or nothing of the class is stored")
            elif set(names) <= stored:
                self._remove_function(function)
            else:
                missing = ", ".join(sorted(set(names) - stored))
                self.leave(place, f"'{name}()' stays: {missing} is no property that was ported here; {counts}")

    def _extension(self, type_):
        source = self.source
        variables, functions = self.folder.members[type_]
        for other in self.folder.members:
            if self.folder.is_model(other) and other.name == type_.name and other.source is not source:
                port = type(self)(self.folder, other.source)
                port.edits = Edits(other.source)
                inner, _ = self.folder.members[other]
                declarations = port._declarations(other)
                ignored = declarations.get("ignoredProperties", (None, None))[0] or []
                stored, unported = set(), set()
                mixed = any(v.has("@Persisted") for v in inner)
                for found in inner:
                    stored_now, left_now = port._variables(found, {}, set(ignored), mixed)
                    stored |= stored_now
                    unported |= left_now
                mine = {n: d for n, d in declarations.items() if d[1].source is source}
                self._functions(other, mine, stored, stored, unported, inner) if not mine.get("ignoredProperties") \
                    else self._foreign_functions(other, mine, stored, unported, inner)
        for found in variables:
            objective = find_attribute(source, found.first, found.index, "@objc")
            if objective:
                self._strip(found)
        for function in functions:
            if find_attribute(source, function.first, function.index, "@objc"):
                self.leave(source.tokens[function.index].start,
                           f"'@objc' of '{function.name}': Linux has none; remove it")
        objective = type_.attribute("@objc") or type_.attribute("@objcMembers")
        if objective:
            self._remove_tokens(*objective)

    def _foreign_functions(self, other, declarations, stored, unported, inner):
        own = {bare(other.source.tokens[n.name].text) for v in inner for n in v.names}
        for name, (names, function) in declarations.items():
            wanted = own if name == "ignoredProperties" else stored
            if names is not None and stored and set(names) <= wanted and not set(names) & unported:
                self._remove_function(function)
            else:
                self.leave(self.source.tokens[function.index].start, f"'{name}()' stays; move it out of the extension, into the class")

    def _head(self, type_, functions):
        """`@objc(Name)`, `@objc` and `@objcMembers` of the class."""
        source, tokens = self.source, self.source.tokens
        objective = type_.attribute("@objc")
        if objective:
            first, behind = objective
            name = text_of(source, first + 2, behind - 1) if behind - first > 2 else type_.name
            self._remove_tokens(first, behind)
            if name != type_.name and not any(f.name == "_realmObjectName" for f in functions):
                words = [t.text for t in tokens[type_.first:type_.index]]
                access = "public " if "public" in words or "open" in words else ""
                self._first_member(
                    type_, f'{access}override class func _realmObjectName() -> String? {{ "{name}" }}')
        members = type_.attribute("@objcMembers")
        if members:
            self._remove_tokens(*members)

    def _first_member(self, type_, words):
        source = self.source
        opening = source.tokens[type_.body[0]]
        following = source.tokens[type_.body[0] + 1]
        between = source.text[opening.end:following.start]
        if "\n" in between or "\r" in between:
            line_end = re.search(r"\r\n|\r|\n", between).group()
            if type_.body[0] + 1 == type_.body[1]:
                indent = self._indent(tokens_start(source, type_.first)) + "    "
            else:
                indent = self._indent(following.start)
            rest = re.compile(r"[^\r\n]*").match(source.text, opening.end).end()
            self.edits.insert(rest, line_end + indent + words + (
                line_end if type_.body[0] + 1 != type_.body[1] else ""))
        else:
            self.edits.insert(opening.end, f" {words}" + ("; " if type_.body[0] + 1 != type_.body[1] else " "))

    def _indent(self, place):
        text = self.source.text
        begin = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
        return re.compile(r"[ \t]*").match(text, begin).group()

    def _initializer(self, type_, function):
        source, tokens = self.source, self.source.tokens
        if function.name != "init":
            return
        words = [t.text for t in tokens[function.first:function.index]]
        inside = [t.text for t in tokens[function.parameters[0]:function.parameters[1]]]
        if "RLMObjectSchema" in inside or "RLMSchema" in inside or "RLMRealm" in inside:
            self.leave(tokens[function.index].start, "an initializer for the Objective-C interface; remove it")
        if "override" not in words or function.parameters[1] != function.parameters[0] + 1:
            return
        override = next(k for k in range(function.first, function.index) if tokens[k].text == "override")
        if "required" in words:
            # Fine as it is; 'override' alone is what is missing a word.
            return
        self.edits.replace(tokens[override].start, tokens[override].end, "required")

    def _remove_function(self, function):
        """Removes a function with its documentation, and one of the blank lines around it."""
        source, text = self.source, self.source.text
        begin = source.tokens[function.first].start
        end = source.tokens[function.body[1]].end
        rest = re.compile(r"[^\r\n]*").match(text, end).group()
        if re.search(r"//|/\*", text[begin:end]) or rest.strip().startswith("//"):
            self.leave(begin, f"a comment goes with '{function.name}()'", "note")
        line = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        rest = re.compile(r"[^\r\n]*").match(text, end).group()
        if text[line:begin].strip() or (rest.strip() and not rest.strip().startswith("//")):
            behind = re.compile(r"[ \t]*;?[ \t]*").match(text, end).end()
            self.edits.replace(begin, behind, "")
            return
        end = re.compile(r"\r\n|\r|\n|$").match(text, end + len(rest)).end()
        line = _before_documentation(text, line)
        blank_before = re.compile(r"[ \t]*(\r\n|\r|\n)")
        before = _line_before(text, line)
        if before is not None and not text[before:line].strip():
            closes = re.compile(r"[ \t]*\}").match(text, end) is not None
            follows = blank_before.match(text, end) is not None
            if closes or follows:
                line = before
        elif (match := blank_before.match(text, end)) is not None:
            end = match.end()
        self.edits.replace(line, end, "")


def tokens_start(source, index):
    return source.tokens[index].start


def _line_before(text, line):
    """Where the line before a line begins; None at the first."""
    if line == 0:
        return None
    end = line - 1
    if text[end] == "\n" and end > 0 and text[end - 1] == "\r":
        end -= 1
    return max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1


def _before_documentation(text, line):
    """Where the documentation above a line begins."""
    while (before := _line_before(text, line)) is not None:
        words = text[before:line].strip()
        if words.startswith("///"):
            line = before
            continue
        if not words.endswith("*/"):
            return line
        begin = text.rfind("/**", 0, line)
        first = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        if begin < 0 or text.find("*/", begin, line) != text.rfind("*/", begin, line) or text[first:begin].strip():
            return line
        line = first
    return line
