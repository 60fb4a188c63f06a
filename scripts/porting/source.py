"""A Swift source as tokens with their places in the text.

Not a compiler's reader: comments and literals are left out, brackets are matched, and that is all. It refuses what it
cannot follow, so that nothing is changed on a guess.
"""
import re
from collections import namedtuple

Token = namedtuple("Token", "text start end newline")  # newline: whether one stands before it

TOKEN = re.compile(r'@\w[\w.]*|`\w+`|[#$]?[^\W\d]\w*|\$\d+|\d\w*(?:\.\d\w*)?|"[^"]*"|[^\s\w]')
DIRECTIVE = re.compile(r"^[ \t]*#(if|elseif|else|endif)\b[^\r\n]*", re.M)
PAIRS = {"(": ")", "[": "]", "{": "}"}


class Unreadable(Exception):
    """What a source cannot be read for."""


class Source:
    def __init__(self, name, text):
        self.name = name
        self.text = text
        masked = _Mask(self).run()
        # Where a part of the file is compiled under a condition.
        self.conditional = _conditional_parts(self, masked)
        masked = DIRECTIVE.sub(lambda match: " " * len(match.group()), masked)
        self.tokens = []
        end = 0
        for match in TOKEN.finditer(masked):
            newline = "\n" in masked[end:match.start()] or "\r" in masked[end:match.start()]
            self.tokens.append(Token(match.group(), match.start(), match.end(), newline or not self.tokens))
            end = match.end()
        self.partner = self._partners()

    def line(self, place):
        """The number of the line of a place in the text."""
        return self.text.count("\n", 0, place) + 1

    def _partners(self):
        partner, open_ones = {}, []
        for index, token in enumerate(self.tokens):
            if token.text in PAIRS:
                open_ones.append(index)
            elif token.text in PAIRS.values():
                if not open_ones or PAIRS[self.tokens[open_ones[-1]].text] != token.text:
                    raise Unreadable(f"line {self.line(token.start)}: '{token.text}' closes nothing")
                first = open_ones.pop()
                partner[first], partner[index] = index, first
        if open_ones:
            token = self.tokens[open_ones[-1]]
            raise Unreadable(f"line {self.line(token.start)}: '{token.text}' is not closed")
        return partner

    def literal(self, token):
        """What a string literal without escapes says; None of any other token."""
        text = self.text[token.start:token.end]
        return text[1:-1] if re.fullmatch(r'"[^"\\\r\n]*"', text) else None


def _conditional_parts(source, masked):
    parts, open_ones = [], []
    for match in DIRECTIVE.finditer(masked):
        if match.group(1) == "if":
            open_ones.append(match.start())
        elif match.group(1) == "endif":
            if not open_ones:
                raise Unreadable(f"line {source.line(match.start())}: '#endif' without '#if'")
            parts.append((open_ones.pop(), match.end()))
    if open_ones:
        raise Unreadable(f"line {source.line(open_ones[-1])}: '#if' without '#endif'")
    return parts


class _Mask:
    """The text with comments and what stands in literals made blank, at the same places."""

    def __init__(self, source):
        self.source = source
        self.text = source.text
        self.out = list(source.text)

    def run(self):
        place, length = 0, len(self.text)
        while place < length:
            end = self._comment(place)
            if end is not None:
                self._blank(place, end)
            elif self._begins_string(place):
                end = self._string(place)
                self._literal(place, end)
            elif (end := self._regex(place)) is not None:
                self._literal(place, end)
            else:
                end = place + 1
            place = end
        return "".join(self.out)

    def _blank(self, begin, end):
        for place in range(begin, end):
            if self.out[place] not in "\r\n":
                self.out[place] = " "

    def _literal(self, begin, end):
        self._blank(begin, end)
        self.out[begin] = self.out[end - 1] = '"'

    def _fail(self, place, words):
        raise Unreadable(f"line {self.source.line(place)}: {words}")

    def _comment(self, place):
        """The end of the comment that begins here; None when none does."""
        if self.text.startswith("//", place):
            match = re.compile(r"[\r\n]").search(self.text, place)
            return match.start() if match else len(self.text)
        if not self.text.startswith("/*", place):
            return None
        depth, begin = 0, place
        while place < len(self.text):
            if self.text.startswith("/*", place):
                depth, place = depth + 1, place + 2
            elif self.text.startswith("*/", place):
                depth, place = depth - 1, place + 2
                if depth == 0:
                    return place
            else:
                place += 1
        self._fail(begin, "the comment is not closed")

    def _begins_string(self, place):
        if self.text[place] == '"':
            return True
        return self.text[place] == "#" and re.compile(r'#+"').match(self.text, place) is not None

    def _string(self, begin):
        hashes = re.compile(r"#*").match(self.text, begin).group()
        place = begin + len(hashes)
        quote = '"""' if self.text.startswith('"""', place) else '"'
        escape = "\\" + hashes
        place += len(quote)
        while place < len(self.text):
            if self.text.startswith(quote + hashes, place):
                return place + len(quote) + len(hashes)
            if self.text.startswith(escape, place):
                place += len(escape)
                place = self._interpolation(place + 1) if self.text[place:place + 1] == "(" else place + 1
            elif quote == '"' and self.text[place] in "\r\n":
                self._fail(begin, "the text is not closed")
            else:
                place += 1
        self._fail(begin, "the text is not closed")

    def _interpolation(self, place):
        begin, depth = place, 1
        while place < len(self.text):
            end = self._comment(place)
            if end is None and self._begins_string(place):
                end = self._string(place)
            if end is not None:
                place = end
                continue
            depth += {"(": 1, ")": -1}.get(self.text[place], 0)
            place += 1
            if depth == 0:
                return place
        self._fail(begin, "what is interpolated is not closed")

    def _regex(self, place):
        """The end of a regular expression, where one can stand."""
        if self.text.startswith("#/", place):
            end = self.text.find("/#", place + 2)
            return end + 2 if end >= 0 else None
        if self.text[place] != "/":
            return None
        before = self.text[:place].rstrip(" \t")
        if not before or before[-1] not in "=(,:[":
            return None
        match = re.compile(r"/(?![ \t/*])(?:[^/\\\r\n]|\\.)+/").match(self.text, place)
        return match.end() if match else None


class Edits:
    """Changes of a text, made together."""

    def __init__(self, source):
        self.source = source
        self.changes = {}

    def replace(self, begin, end, words):
        # The same change may be asked for twice; two changes of one place never are.
        self.changes[(begin, end)] = words

    def insert(self, place, words):
        self.changes[(place, place)] = self.changes.get((place, place), "") + words

    def remove(self, begin, end):
        """Removes a part; the whole line when nothing else stands on it, else with the blanks behind."""
        text = self.source.text
        first = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        last = re.compile(r"[^\r\n]*").match(text, end).end()
        if not text[first:begin].strip() and not text[end:last].strip():
            following = re.compile(r"\r\n|\r|\n|$").match(text, last).end()
            self.replace(first, following, "")
            return
        behind = re.compile(r"[ \t]*").match(text, end).end()
        if behind == last:
            begin = len(text[:begin].rstrip(" \t"))
            behind = end
        self.replace(begin, behind, "")

    def applied(self):
        text, result, place = self.source.text, [], 0
        for (begin, end), words in sorted(self.changes.items()):
            if begin < place:
                raise Unreadable(f"line {self.source.line(begin)}: two changes meet")
            result += [text[place:begin], words]
            place = end
        return "".join(result) + text[place:]
