"""What is changed of variables that a class declares by `@objc dynamic var`."""
from collections import namedtuple

from .declarations import bare, find_attribute, is_observed, type_name
from .expressions import FOREIGN, behind_module, is_objective, stays_foreign, text_of

# What the rest of a class says of its variables: the arguments of `@Persisted` by their names, which are ignored,
# whether some have `@Persisted` already, and the names whose wrapper would be declared twice.
Said = namedtuple("Said", "roles ignored mixed taken")


class VariableRules:
    """Rules of `Port` for variables."""

    def _variables(self, found, said):
        """Ports what one `var` or `let` declares.

        Returns the names that are stored, and those that should be and are not.
        """
        source, tokens = self.source, self.source.tokens
        names = [bare(tokens[v.name].text) for v in found.names]
        place = tokens[found.index].start
        objective = is_objective(found)
        if found.has("@Persisted"):
            return set(), set()
        if found.has("static") or any(
                t.text == "class" for t in found.modifiers()):
            if objective:
                self._strip(found)
            return set(), set()
        if (objective or found.has("dynamic")) and set(names) <= said.ignored:
            self._strip(found)
            return set(), set()
        if found.has("dynamic") and tokens[found.index].text == "let" and not any(
                m and m.kind for m in (self.folder.made(source, found, v) for v in found.names)):
            self.leave(
                place, f"'dynamic let {names[0]}': a constant is not stored; write 'var', or take 'dynamic' away")
            return set(), set()
        if found.has("dynamic") or (objective and tokens[found.index].text == "var"):
            return self._dynamic(found, names, said)
        makes = len(found.names) == 1 and self.folder.made(source, found, found.names[0])
        if objective and not (makes and makes.kind):
            self.leave(place, f"'@objc let {names[0]}': a constant is not stored, and Linux has no '@objc'; remove it")
            return set(), set()
        if len(found.names) != 1:
            made = [self.folder.made(source, found, variable) for variable in found.names]
            if not any(m and m.kind for m in made):
                return set(), set()
            return self._several_made(found, names, made, said)
        return self._made(found, found.names[0], names[0], said)

    def _dynamic(self, found, names, said):
        source, tokens = self.source, self.source.tokens
        place = tokens[found.index].start
        blocks = [v.block for v in found.names if v.block]
        is_computed = any(not is_observed(source, block) for block in blocks)
        if is_computed:
            self._strip(found)
            return set(), set()
        if said.mixed:
            self.leave(place, f"'{names[0]}' is not stored where '@Persisted' is used, too: write '@Persisted' or "
                              "take '@objc dynamic' away")
            return set(), set(names)
        for word, reason in (("weak", "a wrapped variable cannot be weak; take 'weak' away, a link keeps nothing in "
                                      "a file"),
                             ("lazy", "a lazy variable cannot be stored"), ("unowned", "it cannot be unowned"),
                             ("override", "a stored property cannot be overridden")):
            if found.has(word):
                self.leave(place, f"'{names[0]}': {reason}")
                return set(), set(names)
        if set(names) & said.ignored:
            self.leave(place, "some of these are ignored and others not; write one a line")
            return set(), set(names)
        for name in names:
            if name in said.taken:
                self.leave(place, declared_twice(name))
                return set(), set(names)
        for variable in found.names:
            first = behind_module(source, variable.value[0]) if variable.value else None
            name = type_name(source, *variable.type) if variable.type else bare(tokens[first].text) if first else ""
            name = name.removeprefix("RealmSwift.")
            if name in FOREIGN and (variable.type or stays_foreign(source, first, variable.value[1])):
                self.leave(place, f"'{name}' cannot be stored; write {FOREIGN[name]}")
                return set(), set(names)
            if variable.type and tokens[variable.type[0]].text == "[":
                self.leave(place, "an array or dictionary cannot be stored; write List or Map")
                return set(), set(names)
            if variable.type is None and variable.value is None:
                self.leave(place, f"'{names[0]}' cannot be read")
                return set(), set(names)
            made = self.folder.made(source, found, variable)
            if made and made.kind:
                if len(found.names) == 1:
                    return self._made(found, variable, names[0], said)
                self.leave(place, "several collections in one declaration; write one a line")
                return set(), set(names)
        for variable in found.names:
            if variable.type:
                self.folder.store(source, found.index, *variable.type)
            else:
                self.folder.store_case(source, found.index, *variable.value)
        if len(found.names) > 1:
            return self._several(found, names, said.roles)
        self._mark(found, self._wrapper(names[0], said.roles))
        return {names[0]}, set()

    def _wrapper(self, name, roles):
        return f"@Persisted({roles[name]})" if name in roles else "@Persisted"

    def _mark(self, found, wrapper):
        """Puts the wrapper in the place of `@objc`, and takes `dynamic` away."""
        source, tokens = self.source, self.source.tokens
        self.wraps = True
        objective = find_attribute(source, found.first, found.index, "@objc")
        if objective:
            if objective[1] - objective[0] > 1:
                self.leave(tokens[objective[0]].start, "the name for Objective-C in '@objc(...)' goes", "note")
            self.edits.replace(tokens[objective[0]].start, tokens[objective[1] - 1].end, wrapper)
        elif tokens[found.first].text == "dynamic":
            self.edits.replace(tokens[found.first].start, tokens[found.first].end, wrapper)
            return
        else:
            self.edits.insert(tokens[found.first].start, wrapper + " ")
        self._remove_word(found, "dynamic")

    def _remove_word(self, found, word):
        for k in range(found.first, found.index):
            if self.source.tokens[k].text == word:
                self._remove_tokens(k, k + 1)

    def _strip(self, found):
        objective = find_attribute(self.source, found.first, found.index, "@objc")
        if objective:
            self._remove_tokens(*objective)
        self._remove_word(found, "dynamic")

    def _remove_tokens(self, first, behind):
        self.edits.remove(self.source.tokens[first].start, self.source.tokens[behind - 1].end)

    def _head_words(self, found):
        """Attributes and modifiers, without those for Objective-C."""
        source, tokens = self.source, self.source.tokens
        head = []
        k = found.first
        while k < found.index:
            if tokens[k].text == "@objc":
                k = find_attribute(source, k, found.index, "@objc")[1]
            elif tokens[k].text == "dynamic":
                k += 1
            elif k + 1 < found.index and tokens[k + 1].text == "(":
                head.append(text_of(source, k, source.partner[k + 1] + 1))
                k = source.partner[k + 1] + 1
            else:
                head.append(tokens[k].text)
                k += 1
        return head

    def _replace_by_lines(self, begin, end, lines):
        self.edits.replace(begin, end, (self.source.line_end(end) + self._indent(begin)).join(lines))

    def _several(self, found, names, roles):
        """`var a = 0, b = 0`: one declaration each, as a wrapper takes one."""
        source, tokens = self.source, self.source.tokens
        head = self._head_words(found)
        lines = []
        for variable, name in zip(found.names, names):
            words = " ".join([self._wrapper(name, roles)] + head + ["var", tokens[variable.name].text])
            if variable.type:
                words += f": {text_of(source, *variable.type)}"
            if variable.value:
                words += f" = {text_of(source, *variable.value)}"
            if variable.block:
                words += f" {text_of(source, *variable.block)}"
            lines.append(words)
        begin, end = tokens[found.first].start, tokens[found.end - 1].end
        if source.comments_in(begin, end):
            self.leave(begin, "several variables with comments in one declaration; write one a line")
            return set(), set(names)
        self.wraps = True
        self._replace_by_lines(begin, end, lines)
        return set(names), set()


def declared_twice(name):
    return f"'{name}': '@Persisted' declares '_{name}', too; rename that, and write '@Persisted var {name}'"
