"""What is changed of lists, sets, maps, boxes and backlinks that a class makes where it declares them."""
from .declarations import behind_generics, is_observed, type_name
from .expressions import BOXES, COLLECTIONS, made_type, name_in, text_of


class CollectionRules:
    """Rules of `Port` for collections and boxes."""

    def _several_made(self, found, names, made, roles, ignored, mixed):
        """`let a = List<T>(), b = List<U>()`: one declaration each."""
        source, tokens = self.source, self.source.tokens
        begin, end = tokens[found.first].start, tokens[found.end - 1].end
        written = source.text[begin:end]
        plain = all(
            m and m[0] in COLLECTIONS and m[1] and m[2][1] == m[2][0] + 1 and m[3] and not v.block
            for m, v in zip(made, found.names))
        if mixed or not plain or set(names) & ignored or found.has("lazy") or "//" in written or "/*" in written:
            self.leave(begin, "several collections or boxes in one declaration; write one a line")
            return set(), set(names)
        head = self._head_words(found)
        lines = [
            " ".join([self._wrapper(name, roles)] + head + ["var", f"{tokens[v.name].text}: {m[1]}"])
            for name, m, v in zip(names, made, found.names)]
        self.wraps = True
        self._replace_by_lines(begin, end, lines)
        return set(names), set()

    def _made(self, found, variable, name, roles, ignored, mixed):
        """`List<T>()` and its like, boxes, and backlinks."""
        source, tokens = self.source, self.source.tokens
        made = made_type(source, found, variable)
        if name in ignored or (variable.block and not is_observed(source, variable.block)):
            return set(), set()
        for part in (variable.type, variable.value):
            if part:
                self.folder.store(source, found.index, *part)
        if not made or made[0] not in COLLECTIONS | BOXES | {"LinkingObjects"}:
            declared = type_name(source, *variable.type).removeprefix("RealmSwift.") if variable.type else ""
            if declared not in COLLECTIONS | BOXES | {"LinkingObjects"}:
                return set(), set()
            self.leave(tokens[found.index].start, f"'{name}' is not made where it is declared; write '@Persisted var'")
            return set(), {name}
        kind, words, (opening, closing), is_whole = made
        place = tokens[found.index].start
        reason = None
        if mixed and kind not in BOXES:
            reason = f"'{name}' is not stored where '@Persisted' is used, too; write '@Persisted var', if it should be"
        elif found.has("lazy"):
            reason = f"'{name}': a lazy variable cannot be stored"
        elif not is_whole or (variable.block and not is_observed(source, variable.block)):
            reason = f"'{name}' is not made by '{kind}<T>()' alone"
        elif words is None and kind != "LinkingObjects":
            reason = f"'{name}': the type of its elements is not written"
        if reason:
            self.leave(place, reason)
            return set(), {name}
        if kind == "LinkingObjects":
            return self._backlinks(found, variable, name, opening, closing)
        if kind in BOXES:
            return self._box(found, variable, name, roles, kind, words, opening, closing)
        if closing != opening + 1:
            self.leave(place, f"'{name}' does not begin empty")
            return set(), {name}
        self._declare(found, variable, self._wrapper(name, roles), words, None)
        return {name}, set()

    def _box(self, found, variable, name, roles, kind, words, opening, closing):
        source, tokens = self.source, self.source.tokens
        place = tokens[found.index].start
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
        self._declare(found, variable, self._wrapper(name, roles), inner, value)
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

    def _backlinks(self, found, variable, name, opening, closing):
        source, tokens = self.source, self.source.tokens
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
        self._declare(
            found, variable, f'@Persisted(originProperty: "{origin}")', f"LinkingObjects<{target[:-5]}>", None)
        return {name}, set()

    def _declare(self, found, variable, wrapper, type_text, value):
        """`let name = ...` becomes `@Persisted var name: Type`."""
        tokens = self.source.tokens
        self._mark(found, wrapper)
        self.edits.replace(tokens[found.index].start, tokens[found.index].end, "var")
        end = tokens[variable.value[1] - 1].end
        self.edits.replace(
            tokens[variable.name].end, end, f": {type_text}" + (f" = {value}" if value is not None else ""))
