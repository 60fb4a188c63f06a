"""What is changed of a class: its head, its initializers, and the functions whose words its variables take over."""
import re

from .declarations import find_attribute
from .expressions import GONE, NAMING, text_of


class ClassRules:
    """Rules of `Port` for classes and their extensions."""

    def _model(self, type_):
        source, tokens = self.source, self.source.tokens
        variables, functions = self.folder.members[type_]
        ported = self._ported(type_)
        for declared in ported.functions.values():
            for function in declared:
                if function.source is source:
                    self._named(function, ported, len(declared) > 1)
        self._head(type_, functions)
        for function in functions:
            self._initializer(type_, function)
            if function.name in GONE:
                self.leave(tokens[function.index].start, f"'{function.name}()' is none of the interface; remove it")
        initializers = [f for f in functions if f.name == "init" and id(f) not in self.removed]
        own = [f for f in initializers if not self._is_convenience(f)]
        if own and not any(f.parameters[1] == f.parameters[0] + 1 for f in initializers):
            self.leave(
                tokens[own[0].index].start,
                f"'{type_.name}' has an initializer of its own: it needs 'required init() {{ super.init() }}', too")
        if ported.stored and self._is_encoded(type_):
            self.leave(
                tokens[type_.index].start,
                f"'{type_.name}': objects of a Realm are not encoded property by property; write 'encode(to:)'", "note")

    def _is_convenience(self, function):
        return any(t.text == "convenience" for t in self.source.tokens[function.first:function.index])

    def _is_encoded(self, type_):
        """Whether a class is encoded without a function of its own."""
        parts = [other for other in self.folder.meanings_of(type_)]
        return any(name in ("Codable", "Encodable") for other in parts for name, _, _ in other.inherited) and not any(
            function.name == "encode" for other in parts for function in self.folder.members_of(other)[1])

    def _extension(self, type_):
        source = self.source
        variables, functions = self.folder.members[type_]
        for other in self.folder.meant(type_):
            if other.source is source or not any(f.name in NAMING for f in functions):
                continue
            # The class stands in another source, which is ported by itself; here it is asked what becomes of it.
            ported = type(self)(self.folder, other.source)._ported(other)
            for function in functions:
                if function.name in NAMING:
                    self._named(function, ported, len(ported.functions[function.name]) > 1)
        for found in variables:
            objective = find_attribute(source, found.first, found.index, "@objc")
            if objective:
                self._strip(found)
        self._overrides(type_)
        for name in ("@objc", "@objcMembers"):
            objective = type_.attribute(name)
            if objective:
                self._remove_tokens(*objective)

    def _finish(self, type_):
        """What is left of a class or extension when all else is decided."""
        source, tokens, text = self.source, self.source.tokens, self.source.text
        functions = self.folder.members[type_][1]
        for function in functions:
            if id(function) not in self.removed and find_attribute(source, function.first, function.index, "@objc"):
                self._strip(function)
        if type_.kind != "extension" or not functions or type_.inherited:
            return
        begin = tokens[type_.body[0]].end
        for function in functions:
            if id(function) not in self.removed or text[begin:tokens[function.first].start].strip(" \t\r\n;"):
                return
            begin = tokens[function.body[1]].end
        if text[begin:tokens[type_.body[1]].start].strip(" \t\r\n;"):
            return
        # Nothing is left in the extension.
        self.edits.forget(tokens[type_.first].start, tokens[type_.body[1]].end)
        self._remove_declaration(type_.first, type_.body[1])

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
            rest = REST_OF_LINE.match(source.text, opening.end)
            if rest is None:  # a condition, or a comment of several lines
                blanks = re.compile(r"[ \t]*").match(source.text, opening.end)
                self.edits.replace(*blanks.span(), f" {words}{line_end}{indent}")
                return
            self.edits.insert(rest.end(), line_end + indent + words + (
                line_end if type_.body[0] + 1 != type_.body[1] else ""))
        else:
            has_more = type_.body[0] + 1 != type_.body[1]
            self.edits.insert(opening.end, f" {words}" + (
                (";" if between else "; ") if has_more else "" if between else " "))

    def _indent(self, place):
        text = self.source.text
        begin = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
        return re.compile(r"[ \t]*").match(text, begin).group()

    def _initializer(self, type_, function):
        source, tokens = self.source, self.source.tokens
        if function.name != "init":
            return
        words = [t.text for t in tokens[function.first:function.index]]
        inside = {t.text for t in tokens[function.parameters[0]:function.parameters[1]]}
        if inside & {"RLMObjectSchema", "RLMSchema", "RLMRealm"}:
            if self._only_passes_on(function):
                self._remove_function(function)
            else:
                self.leave(tokens[function.index].start, "an initializer for the Objective-C interface; remove it")
            return
        if "override" not in words or function.parameters[1] != function.parameters[0] + 1:
            return
        override = next(k for k in range(function.first, function.index) if tokens[k].text == "override")
        private = next((word for word in words if word in ("private", "fileprivate")), None)
        if private:
            self.leave(tokens[function.index].start,
                       f"'{private} override init()' stays: 'required init()' cannot be {private}; a static function "
                       "can make objects")
            return
        if "required" in words:
            self._remove_tokens(override, override + 1)  # implied
            return
        self.edits.replace(tokens[override].start, tokens[override].end, "required")

    def _only_passes_on(self, function):
        """Whether an initializer calls that of the superclass or `fatalError`, and nothing else."""
        tokens = self.source.tokens
        first, behind = function.body[0] + 1, function.body[1]
        words = [token.text for token in tokens[first:behind]]
        call = next((len(head) for head in (["super", ".", "init", "("], ["fatalError", "("])
                     if words[:len(head)] == head), None)
        return not words or call is not None and self.source.partner[first + call - 1] == behind - 1

    def _remove_function(self, function):
        """Removes a function with its documentation."""
        self.removed.add(id(function))
        self._remove_declaration(function.first, function.body[1])

    def _remove_declaration(self, first, last):
        """Removes a declaration with its documentation, and of blank lines on both sides those on one."""
        text = self.source.text
        begin, end = self.source.tokens[first].start, self.source.tokens[last].end
        rest = re.compile(r"[^\r\n]*").match(text, end).group()
        line = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        if text[line:begin].strip() or (rest.strip() and not rest.strip().startswith("//")):
            self.edits.remove_statement(first, last + 1)
            return
        end = re.compile(r"\r\n|\r|\n|$").match(text, end + len(rest)).end()
        line = _before_documentation(text, line)
        blank = re.compile(r"[ \t]*(\r\n|\r|\n)")
        before = line_before(text, line)
        follows = blank.match(text, end)
        if before is not None and not text[before:line].strip():
            if re.compile(r"[ \t]*\}").match(text, end) or follows or end == len(text):
                line = before
        elif follows and (before is None or text[before:line].rstrip().endswith("{")):
            end = follows.end()
        self.edits.replace(line, end, "")


# What may stand behind code before something is put into the next line.
REST_OF_LINE = re.compile(r"[ \t]*;?[ \t]*(/\*[^*\r\n]*\*/[ \t]*)*(//[^\r\n]*)?(?=[\r\n]|$)")


def tokens_start(source, index):
    return source.tokens[index].start


def line_before(text, line):
    """Where the line before a line begins; None at the first."""
    if line == 0:
        return None
    end = line - 1
    if text[end] == "\n" and end > 0 and text[end - 1] == "\r":
        end -= 1
    return max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1


def _before_documentation(text, line):
    """Where the documentation above a line begins."""
    while (before := line_before(text, line)) is not None:
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
