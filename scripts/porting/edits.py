"""Changes of a source, made together."""
import re

from .masks import Unreadable

BLANKS = re.compile(r"[ \t]*")


class Edits:
    """Changes of a text, made together."""

    def __init__(self, source):
        self.source = source
        self.changes = {}
        self.removed = set()
        self.statements = set()  # the same by tokens: (first token, token behind)

    def replace(self, begin, end, words):
        # The same change may be asked for twice; two changes of one place never are.
        self.changes[(begin, end)] = words

    def is_free(self, place):
        """Whether no change replaces what stands at a place."""
        parts = [*self.changes, *self.removed, *(self._place(*statement) for statement in self.statements)]
        return not any(begin <= place < end for begin, end in parts)

    def _place(self, first, behind):
        return self.source.tokens[first].start, self.source.tokens[behind - 1].end

    def forget(self, begin, end):
        """Takes the changes inside of a part back, which goes as a whole."""
        def is_outside(place):
            return place[1] <= begin or end <= place[0]
        self.changes = {place: words for place, words in self.changes.items() if is_outside(place)}
        self.removed = {place for place in self.removed if is_outside(place)}
        self.statements = {statement for statement in self.statements if is_outside(self._place(*statement))}

    def replace_if_free(self, begin, end, words):
        """For what may stand in a part that another change replaces."""
        if self.is_free(begin):
            self.replace(begin, end, words)

    def insert(self, place, words):
        self.changes[(place, place)] = self.changes.get((place, place), "") + words

    def remove(self, begin, end):
        """Removes a part; the whole line when nothing else stands on it, else with the blanks behind."""
        self.removed.add((begin, end))

    def remove_statement(self, first, behind):
        """Removes tokens with the semicolon that parts them from a neighbour in the line."""
        self.statements.add((first, behind))

    def _whole_statements(self):
        """The parts of statements with a semicolon: alone it would be an error."""
        tokens, joined = self.source.tokens, []
        for first, behind in sorted(self.statements):
            if joined and [token.text for token in tokens[joined[-1][1]:first]] == [";"]:
                joined[-1][1] = behind
            else:
                joined.append([first, behind])
        for first, behind in joined:
            if first > 0 and tokens[first - 1].text == ";" and not tokens[first].newline:
                first -= 1
            elif behind < len(tokens) and tokens[behind].text == ";":
                behind += 1
            yield self._place(first, behind)

    def _removals(self):
        """The parts that `remove` names, with what goes along with them."""
        text, joined = self.source.text, []
        for begin, end in sorted([*self.removed, *self._whole_statements()]):
            # What else stands on a line is only known when neighbours are taken as one.
            if joined and BLANKS.match(text, joined[-1][1]).end() >= begin:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([begin, end])
        return [self._extended(begin, end) for begin, end in joined]

    def _extended(self, begin, end):
        text = self.source.text
        first = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        last = re.compile(r"[^\r\n]*").match(text, end).end()
        if not text[first:begin].strip() and not text[end:last].strip():
            return first, re.compile(r"\r\n|\r|\n|$").match(text, last).end()
        behind = BLANKS.match(text, end).end()
        if behind == last or text[begin] == ";":
            return len(text[:begin].rstrip(" \t")), end
        return begin, behind

    def _all(self):
        return sorted([*self.changes.items(), *((place, "") for place in self._removals())])

    def lost_comments(self):
        """The places of comments that no change keeps, without the documentation of what goes."""
        text, lost = self.source.text, []
        for (begin, end), words in self._all():
            for first, behind in self.source.comments_in(begin, end):
                comment = text[first:behind]
                if comment not in words and not comment.startswith(("///", "/**")):
                    lost.append((first, behind))
        return lost

    def applied(self):
        text, result, place = self.source.text, [], 0
        for (begin, end), words in self._all():
            if begin < place:
                raise Unreadable(f"line {self.source.line(begin)}: two changes meet")
            result += [text[place:begin], words]
            place = end
        return "".join(result) + text[place:]
