"""What is changed, or said, of Objective-C where no variable of a model is declared: protocols, classes, leftovers."""
import re

from .declarations import MODIFIERS, find_attribute, innermost, read_members
from .expressions import NAMING, imports, is_objective, last_word

# Classes of Apple's frameworks, which no Realm holds.
FOREIGN_CLASS = re.compile(
    r"(NS|UI|XC|WK|MK|CL|AV|SK|SCN|CA|GK|MTK|CN|PH)[A-Z]|(Foundation|UIKit|XCTest|AppKit)\.|"
    r"(Operation|Thread|Formatter|DateFormatter|NumberFormatter|JSONEncoder|JSONDecoder|URLProtocol|Bundle|Stream)$")
OBJECTIVE_CLASSES = {"RLMObject", "RLMEmbeddedObject", "RLMObjectBase"}
CLASS_BOUND = {"AnyObject", "class", "NSObjectProtocol"}
# `@objc` of an enumeration compiles on Linux.
ONLY_OBJECTIVE = {"@objc", "@objcMembers", "#selector"}


class ObjectiveRules:
    """Rules of `Port` for what belongs to Objective-C and to no variable of a model."""

    def _sees_realm(self):
        return imports(self.source, "RealmSwift") or imports(self.source, "Realm")

    def _protocol(self, type_):
        """`@objc protocol` becomes one of classes, as it was, without `@objc`."""
        source, tokens = self.source, self.source.tokens
        place = tokens[type_.index].start
        is_adopted = type_ in self.folder.adopted
        if self._is_under_condition(place) or not (is_adopted or self._sees_realm()):
            return
        names = {last_word(name): first for name, first, _ in type_.inherited}
        if is_adopted and "NSObjectProtocol" in names:
            self.leave(place, f"'{type_.name}': a model is no 'NSObjectProtocol' on Linux; write 'AnyObject'")
        objective = type_.attribute("@objc")
        if not objective:
            return
        if any(tokens[k].text == "optional" and self._is_modifier(k) for k in range(*type_.body)):
            self.spoken.append(type_)
            self.leave(place, f"'@objc' of the protocol '{type_.name}': Linux has none, and no optional functions; "
                              "give them a body in an extension")
            return
        self._remove_tokens(*objective)
        for k in range(*type_.body):
            if tokens[k].text == "@objc":
                self._remove_tokens(*find_attribute(source, k, type_.body[1], "@objc"))
        if type_.inherited and not CLASS_BOUND & set(names):
            self.edits.insert(tokens[type_.inherited[0][1]].start, "AnyObject, ")
        elif not type_.inherited:
            self.edits.insert(tokens[type_.index + 1].end, ": AnyObject")

    def _is_modifier(self, k):
        following = self.source.tokens[k + 1].text
        return following in MODIFIERS | {"func", "var", "subscript", "init"} or following.startswith("@")

    def _unknown(self, type_):
        """A class of old properties whose superclass is not among the sources, or one of the Objective-C interface."""
        above = self.folder.superclass_outside(type_)
        if above is None or FOREIGN_CLASS.match(above):
            return
        place = self.source.tokens[type_.index].start
        if last_word(above) in OBJECTIVE_CLASSES:
            self.spoken.append(type_)
            if not self.folder.above(type_):
                self.leave(place, f"'{type_.name}' derives from '{above}' of the Objective-C interface, which is not "
                                  "there; derive it from 'Object', and run this again")
            return
        if self._looks_stored(type_):
            self.spoken.append(type_)
            self.leave(place, f"'{type_.name}': whether '{above}' is a class of a Realm is not told by these sources")

    def _looks_stored(self, type_):
        """Whether a class has variables as a Realm stores them."""
        is_objective_class, sees_realm = type_.attribute("@objcMembers"), self._sees_realm()
        for found in read_members(type_)[0]:
            if found.has("dynamic") and (is_objective(found) or is_objective_class or sees_realm):
                return True
            made = [self.folder.made(self.source, found, variable) for variable in found.names]
            if sees_realm and any(one and one.kind for one in made):
                return True
        return False

    def _overrides(self, type_):
        """What an extension of a model overrides, as only Objective-C can."""
        variables, functions = self.folder.members[type_]
        tokens = self.source.tokens
        for found in variables + functions:
            if found.has("override") and getattr(found, "name", None) not in NAMING:
                self.leave(tokens[found.index].start,
                           "an extension cannot override anything on Linux; move this into the class")

    def _leftovers(self):
        """What else needs Objective-C in a source that uses a Realm, in one line for all of it."""
        source, found = self.source, []
        if not self._sees_realm():
            return
        types = self.folder.types[source]
        told = {line for line, _, _ in self.left}
        spoken = [range(type_.first, type_.body[1]) for type_ in self.spoken]
        spoken += [range(type_.first, type_.index) for type_ in types if type_.kind == "enum"]
        for k, token in enumerate(source.tokens):
            if token.text not in ONLY_OBJECTIVE or not self.edits.is_free(token.start):
                continue
            is_spoken = source.line(token.start) in told or any(k in part for part in spoken)
            is_model = innermost(types, k) in self.folder.members and token.text != "#selector"
            if not (is_spoken or is_model or self._is_under_condition(token.start)):
                found.append(token)
        if found:
            words = ", ".join(f"'{word}'" for word in sorted({token.text for token in found}))
            lines = sorted({source.line(token.start) for token in found})
            places = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
            self.leave(found[0].start, f"{words} ({places}): Linux has none")
