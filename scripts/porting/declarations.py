"""Types, variables and functions of a source, found among its tokens."""
import re

from .words import WORD

MODIFIERS = {
    "public", "open", "internal", "private", "fileprivate", "package", "final", "static", "class", "dynamic",
    "override", "required", "convenience", "lazy", "weak", "unowned", "mutating", "nonmutating", "indirect",
    "nonisolated", "optional", "isolated", "distributed", "unsafe", "safe",
}
TYPES = {"class", "struct", "enum", "extension", "protocol", "actor"}
ACCESSORS = {"get", "set", "didSet", "willSet", "_read", "_modify", "mutating", "nonmutating"}
OPERATORS = set("=+-*/%<>&|^!?:.,~")


class Type:
    """A type or an extension: what it is called, what it inherits from, and where its body is."""

    def __init__(self, source, index, first, words, inherited, body, end_of_head):
        self.source = source
        self.kind = source.tokens[index].text
        self.index = index
        self.first = first
        self.words = words  # `A.B` of `extension A.B`; one word else
        self.name = words[-1]
        self.inherited = inherited  # [(name, first token, token behind)]
        self.body = body
        self.end_of_head = end_of_head
        self.outer = None
        self.block = None  # of a type that is declared in a function: (first token, last token) of what sees it

    def attribute(self, name):
        return find_attribute(self.source, self.first, self.index, name)


class Variable:
    """One name of a `var` or `let`."""

    def __init__(self, name):
        self.name = name  # index of the token
        self.type = self.value = self.block = None  # (first token, token behind)


class Variables:
    def __init__(self, source, index, first):
        self.source = source
        self.index = index
        self.first = first
        self.names = []
        self.end = index + 1

    def modifiers(self):
        return [self.source.tokens[k] for k in range(self.first, self.index)]

    def has(self, word):
        return any(token.text == word for token in self.modifiers())

    def access(self):
        """The modifiers that stand for reading and writing, without `private(set)` and its like."""
        tokens = self.source.tokens
        return {tokens[k].text for k in range(self.first, self.index) if tokens[k + 1].text != "("}


class Function:
    def __init__(self, source, index, first, name, parameters, body):
        self.source = source
        self.index = index
        self.first = first
        self.name = name
        self.parameters = parameters
        self.body = body

    def has(self, word):
        return any(self.source.tokens[k].text == word for k in range(self.first, self.index))

    def is_shared(self):
        """Whether it belongs to the type itself."""
        return self.has("static") or self.has("class")


def bare(text):
    return text.strip("`")


def is_word(text):
    return re.fullmatch(f"`?{WORD}`?", text) is not None


def find_attribute(source, first, behind, name):
    """(first token, token behind) of an attribute with its arguments."""
    for k in range(first, behind):
        if source.tokens[k].text == name:
            if k + 1 < behind and source.tokens[k + 1].text == "(":
                return k, source.partner[k + 1] + 1
            return k, k + 1
    return None


def first_of(source, index):
    """The first token of a declaration's attributes and modifiers."""
    tokens, partner = source.tokens, source.partner
    first = index
    while first > 0:
        previous = first - 1
        text = tokens[previous].text
        if text == ")":
            head = partner[previous] - 1
            if head >= 0 and (tokens[head].text in MODIFIERS or tokens[head].text.startswith("@")):
                first = head
                continue
            return first
        if text in MODIFIERS or text.startswith("@"):
            # `x.open`, and names before a colon, are none.
            if previous > 0 and tokens[previous - 1].text == ".":
                return first
            first = previous
            continue
        return first
    return first


def behind_generics(source, index, limit):
    """The token behind `<...>` that begins at a token; the same token where it is no list of types."""
    tokens = source.tokens
    depth, k = 0, index
    while k < limit:
        text = tokens[k].text
        if text == "<":
            depth += 1
        elif text == ">":
            if tokens[k - 1].text != "-":
                depth -= 1
                if depth == 0:
                    return k + 1
        elif text in "([":
            k = source.partner[k]
        elif not (is_word(text) or text in (",", ".", "?", "!", ":", "&", "-", "=") or text.startswith("@")):
            return index
        k += 1
    return index


def behind_type(source, index, limit):
    """The token behind a type that begins at a token."""
    tokens, k = source.tokens, index
    while k < limit and (tokens[k].text in ("any", "some", "inout", "borrowing") or tokens[k].text.startswith("@")):
        k += 1
        if k < limit and tokens[k].text == "(" and tokens[k - 1].text.startswith("@") and not tokens[k].newline:
            if tokens[k - 1].text == "@convention":
                k = source.partner[k] + 1
    while k < limit:
        text = tokens[k].text
        if text in "([":
            k = source.partner[k] + 1
        elif is_word(text):
            k += 1
            if k < limit and tokens[k].text == "<":
                k = behind_generics(source, k, limit)
        else:
            return k
        while k < limit and tokens[k].text in "?!" and not tokens[k].newline:
            k += 1
        if k >= limit:
            return k
        if tokens[k].text in (".", "&"):
            k += 1
        elif tokens[k].text == "-" and k + 1 < limit and tokens[k + 1].text == ">":
            k += 2
        elif tokens[k].text in ("throws", "async", "rethrows"):
            k += 1
        else:
            return k
    return k


def behind_value(source, index, limit):
    """The token behind an expression that begins at a token; it ends before a comma."""
    tokens, k = source.tokens, index
    while k < limit:
        token = tokens[k]
        if k > index:
            previous = tokens[k - 1].text
            if token.text in (",", ";"):
                return k
            continues = (
                token.text[0] in OPERATORS or token.text in ("as", "is")
                or previous[-1] in OPERATORS - {"!", "?"} or previous in ("as", "is", "try", "await", "in", "return"))
            # `as!` and `try?` go on, `value!` ends.
            if previous in "!?" and k >= 2 and tokens[k - 2].text in ("as", "try"):
                continues = True
            if previous == ">" and token.newline and token.text[0] not in OPERATORS:
                continues = False
            if token.newline and not continues:
                return k
            if token.text == "{" and not token.newline and accessor_block(source, k):
                return k
        if token.text in "([{":
            k = source.partner[k] + 1
        elif token.text == "<" and k > index and is_word(tokens[k - 1].text) and tokens[k - 1].end == token.start:
            behind = behind_generics(source, k, limit)
            k = behind if behind > k else k + 1
        else:
            k += 1
    return k


def accessor_block(source, index):
    """Whether the block at a token has accessors or observers."""
    following = index + 1
    while following < source.partner[index] and source.tokens[following].text.startswith("@"):
        following += 1
    return source.tokens[following].text in ACCESSORS


def is_observed(source, block):
    return source.tokens[block[0] + 1].text in ("didSet", "willSet")


def read_variables(source, index, limit):
    """The names that a `var` or `let` at a token declares; None for what is none of a type's variables."""
    tokens = source.tokens
    found = Variables(source, index, first_of(source, index))
    k = index + 1
    while k < limit:
        if not is_word(tokens[k].text):
            return None
        variable = Variable(k)
        k += 1
        if k < limit and tokens[k].text == ":":
            behind = behind_type(source, k + 1, limit)
            variable.type = (k + 1, behind)
            k = behind
        if k < limit and tokens[k].text == "=":
            behind = behind_value(source, k + 1, limit)
            variable.value = (k + 1, behind)
            k = behind
        if k < limit and tokens[k].text == "{" and (variable.type or variable.value):
            variable.block = (k, source.partner[k] + 1)
            k = source.partner[k] + 1
        found.names.append(variable)
        if k >= limit or tokens[k].text != ",":
            break
        k += 1
    found.end = k
    # `var a, b: Int`: the type is that of all before it.
    for before, after in reversed(list(zip(found.names, found.names[1:]))):
        if before.type is None and before.value is None:
            before.type = after.type
    return found


def read_types(source):
    """All types and extensions of a source, the outer ones first."""
    tokens, found = source.tokens, []
    for index, token in enumerate(tokens):
        if token.text not in TYPES or index + 1 >= len(tokens) or not is_word(tokens[index + 1].text):
            continue
        if index > 0 and tokens[index - 1].text in (":", ",", "&", ".", "<", "import"):
            continue
        if tokens[index + 1].text in MODIFIERS | {"func", "var", "let", "subscript", "init"}:
            continue
        if token.text == "actor" and index > 0 and not tokens[index].newline and is_word(tokens[index - 1].text) \
                and tokens[index - 1].text not in MODIFIERS:
            continue
        k = index + 2
        while k < len(tokens) and tokens[k].text == ".":
            k += 2
        words = [bare(tokens[j].text) for j in range(index + 1, k, 2)]
        if k < len(tokens) and tokens[k].text == "<":
            k = behind_generics(source, k, len(tokens))
        inherited = []
        if k < len(tokens) and tokens[k].text == ":":
            k += 1
            while k < len(tokens):
                first = k
                k = behind_type(source, k, len(tokens))
                if k == first:
                    break
                inherited.append((type_name(source, first, k), first, k))
                if k >= len(tokens) or tokens[k].text != ",":
                    break
                k += 1
        end_of_head = k
        while k < len(tokens) and tokens[k].text not in "{};":
            k = source.partner[k] + 1 if tokens[k].text in "([" else k + 1
        if k >= len(tokens) or tokens[k].text != "{":
            continue
        found.append(Type(
            source, index, first_of(source, index), words, inherited, (k, source.partner[k]), end_of_head))
    bodies = {type_.body[0] for type_ in found}
    around = enclosing(source)
    for inner in found:
        inner.outer = innermost(found, inner.index)
        block = around[inner.first]
        if block is not None and block not in bodies:
            inner.block = (block, source.partner[block])
    return found


def innermost(types, index):
    """The type in whose body itself, or in whose functions, a token stands; None outside of all."""
    around = [type_ for type_ in types if type_.body[0] < index < type_.body[1]]
    return around[-1] if around else None


def enclosing(source, brackets="{"):
    """For each token the one that opens the innermost bracket of some kinds around it; None outside of all."""
    found, open_ones = [], []
    for index, token in enumerate(source.tokens):
        if token.text in PAIRS_OPEN:
            found.append(open_ones[-1] if open_ones else None)
            if token.text in brackets:
                open_ones.append(index)
            continue
        if open_ones and source.partner[open_ones[-1]] == index:
            open_ones.pop()
        found.append(open_ones[-1] if open_ones else None)
    return found


def type_words(source, first, behind):
    """A type's name as it is written, with what it stands in, without arguments and marks: `A.B` of `A<C>.B?`."""
    words, k = [], first
    while k < behind:
        text = source.tokens[k].text
        if text == "<":
            k = max(behind_generics(source, k, behind), k + 1)
            continue
        if is_word(text) and text not in ("any", "some"):
            words.append(bare(text))
        elif text not in (".", "?", "!") and not text.startswith("@"):
            break
        k += 1
    return words


def type_name(source, first, behind):
    """A type's name without modules, arguments and marks; with `RealmSwift.` where it is written."""
    words = type_words(source, first, behind)
    if not words:
        return ""
    return "RealmSwift." + words[-1] if words[0] == "RealmSwift" and len(words) > 1 else words[-1]


def read_members(type_):
    """The variables and functions that stand in a type's body itself."""
    source, (begin, end) = type_.source, type_.body
    tokens, variables, functions = source.tokens, [], []
    k = begin + 1
    while k < end:
        text = tokens[k].text
        if text in ("var", "let"):
            found = read_variables(source, k, end)
            if found:
                variables.append(found)
                k = max(found.end, k + 1)
                continue
        elif text in ("func", "init", "subscript") and tokens[k - 1].text != ".":
            first = first_of(source, k)
            name = bare(tokens[k + 1].text) if text == "func" else text
            j = k + 1
            while j < end and tokens[j].text not in "({":
                j += 1
            if j < end and tokens[j].text == "(":
                parameters = (j, source.partner[j])
                j = source.partner[j] + 1
                while j < end and tokens[j].text not in "{};" and tokens[j].text not in ("func", "var", "let", "init"):
                    j = source.partner[j] + 1 if tokens[j].text in "([" else j + 1
                body = (j, source.partner[j]) if j < end and tokens[j].text == "{" else None
                functions.append(Function(source, k, first, name, parameters, body))
                k = body[1] + 1 if body else j
                continue
        k = source.partner[k] + 1 if text in PAIRS_OPEN else k + 1
    return variables, functions


PAIRS_OPEN = {"(", "[", "{"}
