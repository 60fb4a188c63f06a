"""Changes of a source, made together."""
import re

from .masks import Unreadable


class Edits:
    """Changes of a text, made together."""

    def __init__(self, source):
        self.source = source
        self.changes = {}

    def replace(self, begin, end, words):
        # The same change may be asked for twice; two changes of one place never are.
        self.changes[(begin, end)] = words

    def is_free(self, place):
        """Whether no change replaces what stands at a place."""
        return not any(begin <= place < end for begin, end in self.changes)

    def forget(self, begin, end):
        """Takes the changes inside of a part back, which goes as a whole."""
        self.changes = {place: words for place, words in self.changes.items() if place[1] <= begin or end <= place[0]}

    def replace_if_free(self, begin, end, words):
        """For what may stand in a part that another change replaces."""
        if self.is_free(begin):
            self.replace(begin, end, words)

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
