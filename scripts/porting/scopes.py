"""Names that functions and closures declare for themselves, and where these are seen."""
from .declarations import MODIFIERS, bare, behind_type, enclosing, is_word, read_variables

CONDITIONS = {"if", "guard", "while"}
HEADS = CONDITIONS | {"for", "case", "catch"}
ENDS = {"=", ":", "where", "in", "as", "{", "}", ";"}


class Scopes:
    """What a source declares inside of functions: by name, the parts in which the name means that."""

    def __init__(self, source, types):
        self.source = source
        self.tokens = source.tokens
        self.bodies = {type_.body[0] for type_ in types}
        self.around = enclosing(source)
        self.brackets = enclosing(source, "([{")
        self.parts = {}      # name: [(first token, token behind)]
        self.names = set()   # tokens that declare a name, or are the label of an argument or parameter
        for k, token in enumerate(self.tokens):
            if token.text in ("let", "var"):
                self._pattern(k)
            elif token.text in ("func", "init", "subscript") and self._is_declaration(k):
                self._function(k)
            elif token.text == "{" and k not in self.bodies:
                self._closure(k)
            elif token.text == "for" and self.around[k] is not None:
                self._loop(k)
            elif token.text == "catch":
                self._see("error", k, self._end(self._body(k, len(self.tokens))))
            elif token.text in ("set", "willSet", "didSet"):
                self._accessor(k)

    def is_local(self, k):
        """Whether the name at a token is one of a function or closure around it."""
        return any(first <= k < behind for first, behind in self.parts.get(bare(self.tokens[k].text), ()))

    def _see(self, name, first, behind):
        self.parts.setdefault(name, []).append((first, behind))

    def _declare(self, k, parts):
        self.names.add(k)
        for first, behind in parts:
            self._see(bare(self.tokens[k].text), first, behind)

    def _end(self, brace):
        return self.source.partner.get(brace, len(self.tokens))

    def _is_declaration(self, k):
        return k == 0 or self.tokens[k - 1].text != "."

    def _body(self, k, limit):
        """The brace behind a head: the first that no value begins with."""
        while k < limit:
            text = self.tokens[k].text
            if text == "{" and self.tokens[k - 1].text not in ("=", "(", ",", "?", ":", "&"):
                return k
            k = self.source.partner[k] + 1 if text in ("(", "[", "{") else k + 1
        return limit

    # `let` and `var`

    def _pattern(self, k):
        block = self.around[k]
        if block is None or block in self.bodies and self.brackets[k] == block:
            found = read_variables(self.source, k, len(self.tokens))
            self.names |= {variable.name for variable in found.names} if found else set()
            return
        begin = k
        while self.brackets[begin] is not None and self.brackets[begin] != block:
            begin = self.brackets[begin]
        head = self._head(begin, block) if begin != k or self.tokens[k - 1].text in HEADS | {","} else None
        if head is None:
            self._statement(k, block)
            return
        parts = self._seen(head, begin, block)
        for name in self._pattern_names(k):
            self._declare(name, parts)

    def _head(self, k, block):
        """The word that begins the statement, or the case, whose pattern stands at a token; None without one."""
        k -= 1
        while k > block:
            text = self.tokens[k].text
            if text == ";":
                return None
            if text == "case" and self.tokens[k - 1].text in CONDITIONS | {"for", ","}:
                k -= 1
                continue
            if text in HEADS and self.tokens[k - 1].text != ".":
                return k
            k = self.source.partner[k] - 1 if text in (")", "]", "}") else k - 1
        return None

    def _seen(self, head, k, block):
        """The parts that see what a pattern declares."""
        end = self._end(block)
        word = self.tokens[head].text
        if word == "case":
            return [(k, self._next_case(k, end))]
        if word == "catch":
            return [(k, self._end(self._body(k, end)))]
        body = self._body(k, end)
        if word == "for":
            following = next((j for j in range(k, body) if self.tokens[j].text == "where"), body)
            return [(following, self._end(body))]
        if word != "guard":
            return [(self._after_condition(k, body), self._end(body))]
        otherwise = k
        while otherwise < end and self.tokens[otherwise].text != "else":
            opens = self.tokens[otherwise].text in ("(", "[", "{")
            otherwise = self.source.partner[otherwise] + 1 if opens else otherwise + 1
        return [(self._after_condition(k, otherwise), otherwise), (self._end(otherwise + 1), end)]

    def _after_condition(self, k, body):
        while k < body and self.tokens[k].text != ",":
            k = self.source.partner[k] + 1 if self.tokens[k].text in ("(", "[", "{") else k + 1
        return k

    def _next_case(self, k, end):
        while k < end:
            if self.tokens[k].text in ("case", "default") and self.tokens[k - 1].text != "." \
                    and self.tokens[k - 1].text not in CONDITIONS | {"for", ","}:
                return k
            k = self.source.partner[k] + 1 if self.tokens[k].text in ("(", "[", "{") else k + 1
        return end

    def _pattern_names(self, k):
        """The names that `let` at a token declares: `let a`, `let (a, b)`, `let .some(a)`."""
        found, depth = [], 0
        for j in range(k + 1, len(self.tokens)):
            text = self.tokens[j].text
            if text in ("(", "["):
                depth += 1
            elif text in (")", "]"):
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and (text in ENDS or text == ","):
                break
            elif is_word(text) and text not in ("_", "as", "is", "let", "var", "nil", "true", "false") \
                    and self.tokens[j - 1].text not in (".", "as", "is"):
                following = self.tokens[j + 1].text if j + 1 < len(self.tokens) else ""
                if following not in (":", "(", ".") or (following == ":" and depth == 0):
                    found.append(j)
        return found

    def _loop(self, k):
        """`for (a, b) in`: a loop declares without `let`."""
        tokens, end = self.tokens, self._end(self.around[k])
        first = k + 1
        while first < end and tokens[first].text in ("try", "await"):
            first += 1
        if tokens[first].text in ("case", "let", "var") or tokens[k - 1].text == ".":
            return
        parts = self._seen(k, first, self.around[k])
        for name in self._pattern_names(first - 1):
            self._declare(name, parts)

    def _statement(self, k, block):
        end = self._end(block)
        found = read_variables(self.source, k, end)
        if found and found.names:
            for variable in found.names:
                last = max(part[1] for part in (variable.type, variable.value, variable.block, (0, variable.name + 1))
                           if part)
                self._declare(variable.name, [(last, end)])
            return
        # `let (a, b) = ...`: these are seen behind what they are made of, which ends in the line at
        # the latest.
        equal = next((j for j in range(k, end) if self.tokens[j].text == "="), k)
        after = equal + 1
        while after < end and (not self.tokens[after].newline or self.tokens[after].text[0] in ".?&|+-*/:"):
            if self.tokens[after].text == ";":
                break
            after = self.source.partner[after] + 1 if self.tokens[after].text in ("(", "[", "{") else after + 1
        for name in self._pattern_names(k):
            self._declare(name, [(after, end)])

    # Functions and closures

    def _function(self, k):
        tokens = self.tokens
        opening = k + 1
        while opening < len(tokens) and tokens[opening].text not in ("(", "{", "}"):
            opening += 1
        if opening >= len(tokens) or tokens[opening].text != "(":
            return
        block = self.around[k]
        if tokens[k].text == "func":
            inside = block is not None and block not in self.bodies
            self._declare(k + 1, [(block, self._end(block))] if inside else [])
        closing = self.source.partner[opening]
        body = closing + 1
        while body < len(tokens) and tokens[body].text not in ("{", "}", ";") and not (
                tokens[body].newline and tokens[body].text in MODIFIERS | {"func", "var", "let", "init", "case"}):
            body = self.source.partner[body] + 1 if tokens[body].text in ("(", "[") else body + 1
        seen = (body, self._end(body)) if body < len(tokens) and tokens[body].text == "{" else (opening, opening)
        self._parameters(opening, closing, seen)

    def _parameters(self, opening, closing, seen):
        """Parameters between brackets: the word before a colon is the name inside, one before it a label."""
        for first, behind in self._split(opening + 1, closing):
            words = []
            for k in range(first, behind):
                if self.tokens[k].text == ":":
                    break
                if is_word(self.tokens[k].text):
                    words.append(k)
            for k in words:
                self.names.add(k)
            if words:
                self._declare(words[-1], [seen])

    def _split(self, k, behind):
        """The parts of a list, by its commas."""
        first = k
        while k < behind:
            if self.tokens[k].text == ",":
                yield first, k
                first = k + 1
            k = self.source.partner[k] + 1 if self.tokens[k].text in ("(", "[", "{") else k + 1
        if first < behind:
            yield first, behind

    def _closure(self, brace):
        """`{ [captured] (a, b) -> T in`, `{ a, b in`."""
        tokens, end = self.tokens, self._end(brace)
        k, captured, named = brace + 1, None, []
        while k < end and tokens[k].text.startswith("@"):
            k += 1
            if tokens[k].text == "(" and tokens[k].start == tokens[k - 1].end:
                k = self.source.partner[k] + 1
        if k < end and tokens[k].text == "[":
            captured = (k, self.source.partner[k])
            k = captured[1] + 1
        brackets = None
        if k < end and tokens[k].text == "(":
            brackets = (k, self.source.partner[k])
            k = brackets[1] + 1
        else:
            while k < end and is_word(tokens[k].text) and tokens[k].text not in ("in", "async", "throws"):
                named.append(k)
                k += 1
                if k >= end or tokens[k].text != ",":
                    break
                k += 1
        while k < end and tokens[k].text in ("async", "throws", "rethrows"):
            k += 1
        if k + 1 < end and tokens[k].text == "-" and tokens[k + 1].text == ">":
            k = behind_type(self.source, k + 2, end)
        if k >= end or tokens[k].text != "in":
            return
        seen = (k, end)
        for name in named:
            self._declare(name, [seen])
        if brackets:
            self._parameters(*brackets, seen)
        if captured:
            for first, behind in self._split(captured[0] + 1, captured[1]):
                equal = next((j for j in range(first, behind) if tokens[j].text == "="), None)
                name = (equal or behind) - 1
                self._see(bare(tokens[name].text), *seen)
                if equal:
                    self.names.add(name)

    def _accessor(self, k):
        """`set`, `willSet` and `didSet` name the other value, in brackets or without."""
        tokens = self.tokens
        body = k + 1
        if body + 2 < len(tokens) and tokens[body].text == "(" and tokens[body + 2].text == ")":
            body += 3
        if body < len(tokens) and tokens[body].text == "{":
            if body > k + 1:
                self._declare(k + 2, [(body, self._end(body))])
            for name in ("newValue", "oldValue"):
                self._see(name, body, self._end(body))
