"""What is changed of lists, sets, maps, boxes and backlinks that a class makes where it declares them."""
import re

from .declarations import behind_generics, is_observed
from .expressions import BOXES, COLLECTIONS, name_in, text_of
from .variables import declared_twice


class CollectionRules:
    """Rules of `Port` for collections and boxes."""

    def _several_made(self, found, names, made, said):
        """`let a = List<T>(), b = List<U>()`: one declaration each."""
        source, tokens = self.source, self.source.tokens
        begin, end = tokens[found.first].start, tokens[found.end - 1].end
        plain = all(
            m and m.kind in COLLECTIONS and m.text and m.brackets[1] == m.brackets[0] + 1 and m.is_whole and not v.block
            for m, v in zip(made, found.names))
        taken = [name for name in names if name in said.taken]
        if taken:
            self.leave(begin, declared_twice(taken[0]))
            return set(), set(names)
        if said.mixed or not plain or set(names) & said.ignored or found.has("lazy") or source.comments_in(begin, end):
            self.leave(begin, "several collections or boxes in one declaration; write one a line")
            return set(), set(names)
        head = self._head_words(found)
        lines = [
            " ".join([self._wrapper(name, said.roles)] + head + ["var", f"{tokens[v.name].text}: {m.text}"])
            for name, m, v in zip(names, made, found.names)]
        self.wraps = True
        self._replace_by_lines(begin, end, lines)
        return set(names), set()

    def _made(self, found, variable, name, said):
        """`List<T>()` and its like, boxes, and backlinks."""
        source, tokens = self.source, self.source.tokens
        made = self.folder.made(source, found, variable)
        if name in said.ignored or (variable.block and not is_observed(source, variable.block)):
            return set(), set()
        for part in (variable.type, variable.value):
            if part:
                self.folder.store(source, found.index, *part)
        if not made or not made.kind:
            if not self.folder.declared_kind(source, found, variable):
                return set(), set()
            self.leave(tokens[found.index].start, f"'{name}' is not made where it is declared; write '@Persisted var'")
            return set(), {name}
        _, kind, words, (opening, closing), is_whole = made
        place = tokens[found.index].start
        reason = None
        if said.mixed and kind not in BOXES:
            reason = f"'{name}' is not stored where '@Persisted' is used, too; write '@Persisted var', if it should be"
        elif found.has("lazy"):
            reason = f"'{name}': a lazy variable cannot be stored"
        elif not is_whole or (variable.block and not is_observed(source, variable.block)):
            reason = f"'{name}' is not made by '{kind}<T>()' alone"
        elif kind != "LinkingObjects" and (words is None or kind in BOXES and "<" not in words):
            reason = f"'{name}': the type of its elements is not written"
        elif name in said.taken and kind not in BOXES:
            reason = declared_twice(name)
        if reason:
            self.leave(place, reason)
            return set(), {name}
        if kind == "LinkingObjects":
            return self._backlinks(found, variable, name, made)
        if kind in BOXES:
            return self._box(found, variable, name, said, kind, words, opening, closing)
        if closing != opening + 1:
            self.leave(place, f"'{name}' does not begin empty")
            return set(), {name}
        self._declare(found, variable, self._wrapper(name, said.roles), words, None)
        return {name}, set()

    def _box(self, found, variable, name, said, kind, words, opening, closing):
        source, tokens = self.source, self.source.tokens
        if name in said.taken:
            self.folder.boxes.keep(name, f"a class of one declares '_{name}', too, as '@Persisted' would")
        if not self.folder.boxes.become_variables(name):
            self._keep_box(found, variable, name, kind)
            return set(), {name}
        self.ported.add(variable)
        inner = words[words.index("<") + 1:words.rindex(">")].strip()
        if kind == "RealmOptional":
            inner += "?"
        value = None
        if closing > opening + 1:  # what it begins with
            if tokens[opening + 1].text == "value" and tokens[opening + 2].text == ":":
                opening += 2
            value = text_of(source, opening + 1, closing)
        self._declare(found, variable, self._wrapper(name, said.roles), inner, value)
        return {name}, set()

    def _keep_box(self, found, variable, name, kind):
        """A box that stays has to be a constant."""
        tokens = self.source.tokens
        words = f"'{name}' stays a {kind}, which is stored, too: {self.folder.boxes.kept[name]}"
        if tokens[found.index].text == "var":
            changes = any(tokens[k].text in ("private", "fileprivate", "internal", "public", "package")
                          and tokens[k + 1].text == "(" for k in range(found.first, found.index))
            if changes or variable.block or self.folder.boxes.is_assigned(name):
                words += "; it has to be declared with 'let', or as '@Persisted var' without '.value'"
            else:
                self.edits.replace(tokens[found.index].start, tokens[found.index].end, "let")
                words += "; it is a 'let' now"
        self.leave(tokens[found.index].start, words)

    def _backlinks(self, found, variable, name, made):
        source, tokens = self.source, self.source.tokens
        opening, closing = made.brackets
        k, arguments = opening + 1, {}
        while k < closing and k + 1 < closing and tokens[k + 1].text == ":":
            end = k + 2
            while end < closing and tokens[end].text != ",":
                end = source.partner[end] + 1 if tokens[end].text in "([" else (
                    max(behind_generics(source, end, closing), end + 1) if tokens[end].text == "<" else end + 1)
            arguments[tokens[k].text] = (k + 2, end)
            k = end + 1
        origin = name_in(source, *arguments["property"]) if "property" in arguments else None
        target = text_of(source, *arguments["fromType"]) if "fromType" in arguments else ""
        if origin is None or not target.endswith(".self"):
            self.leave(tokens[found.index].start, f"'{name}': the class or the property is not written out")
            return set(), {name}
        words = made.text if made.text and made.text.endswith(">") else f"{made.name}<{target.removesuffix('.self')}>"
        self._declare(found, variable, f'@Persisted(originProperty: "{origin}")', words, None)
        return {name}, set()

    def _declare(self, found, variable, wrapper, type_text, value):
        """`let name = ...` becomes `@Persisted var name: Type`; comments in between stand behind it then."""
        tokens = self.source.tokens
        self._mark(found, wrapper)
        self.edits.replace(tokens[found.index].start, tokens[found.index].end, "var")
        words = f": {type_text}" + (f" = {value}" if value is not None else "")
        begin, end = tokens[variable.name].end, tokens[variable.value[1] - 1].end
        self.edits.replace(begin, end, " ".join([words] + self._comments_behind(begin, end, words)))

    def _comments_behind(self, begin, end, words):
        """The comments of a part that can stand behind the words which replace it; `Edits` tells of others."""
        text = self.source.text
        comments = [text[first:behind] for first, behind in self.source.comments_in(begin, end)]
        comments = [comment for comment in comments if comment not in words]
        to_line_ends = [comment for comment in comments if comment.startswith("//")]
        # Behind one up to the end of its line nothing but another one can stand.
        if not re.compile(r"[ \t]*(//|[\r\n]|$)").match(text, end):
            to_line_ends = []
        return [comment for comment in comments if comment.startswith("/*")] + to_line_ends
