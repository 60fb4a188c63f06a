"""A Swift source as tokens with their places in the text.

Not a compiler's reader: comments are left out, brackets are matched, and that is all. It refuses what it cannot follow,
so that nothing is changed on a guess. A text literal is one token; where code is interpolated, its tokens stand between
those of the text's pieces: `"a\\(b)c"` are `"a\\`, `(`, `b`, `)` and `c"`.
"""
import re
from bisect import bisect_left, bisect_right
from collections import namedtuple

from .masks import Mask, Unreadable
from .words import PART, WORD

Token = namedtuple("Token", "text start end newline")  # newline: whether one stands before it

# The mask (masks.py) makes each character of a literal a quotation mark.
TOKEN = re.compile(rf'@\w[\w.]*|`{PART}+`|[#$]?{WORD}|\$\d+|\d\w*(?:\.\d\w*)?|"+|[^\s\w]')
# One may stand behind code. It ends with its line, but in brackets a condition goes on.
DIRECTIVE = re.compile(r"#(if|elseif|else|endif)\b[^\r\n]*")
LINE_END = re.compile(r"\r\n|\r|\n")
PAIRS = {"(": ")", "[": "]", "{": "}"}


class Source:
    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.line_begins = [0] + [match.end() for match in LINE_END.finditer(text)]
        mask = Mask(text)
        masked = mask.run()
        self.comments = mask.comments
        # Where the first line of code begins, directives included.
        code = re.search(r"\S", masked)
        self.first_code = code.start() if code else len(text)
        # Where a part of the file is compiled under a condition.
        directives = list(_directives(masked))
        self.conditional = _conditional_parts(self, directives)
        for _, begin, end in directives:
            masked = masked[:begin] + re.sub(r"[^\r\n]", " ", masked[begin:end]) + masked[end:]
        self.tokens = []
        end = 0
        for match in TOKEN.finditer(masked):
            newline = "\n" in masked[end:match.start()] or "\r" in masked[end:match.start()]
            self.tokens.append(Token(match.group(), match.start(), match.end(), newline or not self.tokens))
            end = match.end()
        self.partner = self._partners()

    def line(self, place):
        """The number of the line of a place in the text."""
        return bisect_right(self.line_begins, place)

    def line_end(self, place):
        """What ends the line of a place; of the last line what ends the first."""
        found = LINE_END.search(self.text, place) or LINE_END.search(self.text)
        return found.group() if found else "\n"

    def comments_in(self, begin, end):
        """The places of the comments in a part of the text."""
        comments = self.comments
        return comments[bisect_left(comments, (begin, begin)):bisect_left(comments, (end, end))]

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


def _directives(masked):
    """`if` and its like with their places."""
    for match in DIRECTIVE.finditer(masked):
        begin, end = match.span()
        while masked.count("(", begin, end) > masked.count(")", begin, end) and end < len(masked):
            end = re.compile(r"[\r\n]*[^\r\n]*").match(masked, end).end()
        yield match.group(1), begin, end


def _conditional_parts(source, directives):
    parts, open_ones = [], []
    for word, begin, end in directives:
        if word == "if":
            open_ones.append(begin)
        elif word == "endif":
            if not open_ones:
                raise Unreadable(f"line {source.line(begin)}: '#endif' without '#if'")
            parts.append((open_ones.pop(), end))
    if open_ones:
        raise Unreadable(f"line {source.line(open_ones[-1])}: '#if' without '#endif'")
    return parts
