"""What of a source is code: comments are made blank, and literals marked, at the same places."""
import re


class Unreadable(Exception):
    """What a source cannot be read for."""


PLAIN = re.compile(r'[^/"#()]*')  # where nothing of interest begins
LITERAL = '"'  # what each character of a literal becomes, ends of lines too


class Mask:
    """The text with comments made blank and literals marked; code that a literal interpolates stays code."""

    def __init__(self, text):
        self.text = text
        self.out = list(text)
        self.comments = []  # [(begin, end)]

    def run(self):
        # `#!` at the beginning names the program that runs a script.
        begin = self._end_of_line(0) if self.text.startswith("#!") else 0
        self._blank(0, begin)
        self._code(begin, None)
        return "".join(self.out)

    def _code(self, place, opened):
        """Masks code up to the end; behind the bracket that `opened` it up to the one that closes."""
        depth = 0
        while place < len(self.text):
            place = PLAIN.match(self.text, place).end()
            if place == len(self.text):
                break
            end = self._comment(place)
            if end is not None:
                self._blank(place, end)
                self.comments.append((place, end))
            elif self._begins_string(place):
                end = self._string(place)
            elif (end := self._regex(place)) is not None:
                self._mark(place, end)
            else:
                depth += {"(": 1, ")": -1}.get(self.text[place], 0)
                if opened is not None and depth < 0:
                    return place
                end = place + 1
            place = end
        if opened is not None:
            self._fail(opened, "what is interpolated is not closed")
        return place

    def _blank(self, begin, end):
        for place in range(begin, end):
            if self.out[place] not in "\r\n":
                self.out[place] = " "

    def _mark(self, begin, end):
        self.out[begin:end] = LITERAL * (end - begin)

    def _fail(self, place, words):
        raise Unreadable(f"line {line_of(self.text, place)}: {words}")

    def _end_of_line(self, place):
        return re.compile(r"[^\r\n]*").match(self.text, place).end()

    def _comment(self, place):
        """The end of the comment that begins here; None when none does."""
        if self.text.startswith("//", place):
            return self._end_of_line(place)
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
        """Marks the pieces of the text that begins here, and goes through what stands between them; its end."""
        hashes = re.compile(r"#*").match(self.text, begin).group()
        place = begin + len(hashes)
        quote = '"""' if self.text.startswith('"""', place) else '"'
        escape = "\\" + hashes
        place += len(quote)
        piece = begin
        while place < len(self.text):
            if self.text.startswith(quote + hashes, place):
                end = place + len(quote) + len(hashes)
                self._mark(piece, end)
                return end
            if self.text.startswith(escape, place):
                place += len(escape)
                if self.text[place:place + 1] == "(":
                    self._mark(piece, place)
                    piece = self._code(place + 1, begin) + 1
                    place = piece
                else:
                    place += 1
            elif quote == '"' and self.text[place] in "\r\n":
                self._fail(begin, "the text is not closed")
            else:
                place += 1
        self._fail(begin, "the text is not closed")

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


def line_of(text, place):
    """The number of the line of a place in a text."""
    return len(re.findall(r"\r\n|\r|\n", text[:place])) + 1
