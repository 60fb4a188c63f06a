"""What is changed of imports: those of `Realm` and RealmSwift, and those that brought Foundation along."""
import re

from .classes import REST_OF_LINE, line_before
from .expressions import PRODUCT_REALM, imports, read_imports
from .names import Outside

REALM_MODULES = ("RealmSwift", "Realm")
# Modules for user interfaces, which Linux has not.
INTERFACE_MODULES = {"UIKit", "AppKit", "Cocoa", "WatchKit"}
# What sources of models use of Foundation: its classes, and its other types.
_CLASSES = (
    "NSObject|NSDate|NSData|NSString|NSNumber|NSDecimalNumber|NSUUID|NSURL|NSError|NSNull|NSLog|NSRange|NSZone|NSArray|"
    "NSDictionary|NSSet|NSMutable(?:String|Data|Array|Dictionary|Set)|NSCopying|NSCoding|NSCoder|NSPredicate|"
    "NSCompoundPredicate|NSSortDescriptor|NSRegularExpression|NSLock|NSRecursiveLock")
FOUNDATION_NAMES = re.compile(
    f"{_CLASSES}|CG(?:Float|Point|Size|Rect)|Date|Data|UUID|URL|Decimal|TimeInterval|Calendar|DateComponents|"
    "DateFormatter|DateInterval|NumberFormatter|Locale|TimeZone|JSONDecoder|JSONEncoder|JSONSerialization|"
    "PropertyListDecoder|PropertyListEncoder|FileManager|Bundle|NotificationCenter|Notification|UserDefaults|"
    "IndexPath|IndexSet|CharacterSet|ProcessInfo|Timer|Thread|DispatchQueue|DispatchGroup|DispatchSemaphore|"
    "OperationQueue|URLSession|URLRequest|LocalizedError")
# What may be of a module for user interfaces, by the beginnings of its names.
INTERFACE_NAMES = re.compile(
    rf"(?!(?:{_CLASSES}|CG(?:Float|Point|Size|Rect)|UIKit)$)@?(?:UI|NS|WK|CA|CG|CI|IB)[A-Z]\w*|"
    r"#(?:selector|imageLiteral|colorLiteral)")


class ImportRules:
    """Rules of `Port` for imports."""

    def _imports(self):
        """Adds `import RealmSwift` where that is missing now, and removes `import Realm` that nothing needs."""
        source, tokens = self.source, self.source.tokens
        is_missing = self.wraps and not self.folder.sees_all_of_realm(source)
        has_other = imports(source, "RealmSwift")
        names = sorted({token.text for k, token in enumerate(tokens) if self._is_of_realm(k)})
        missing = [name for name in names if name not in PRODUCT_REALM]
        for found in read_imports(source):
            if found.module != "Realm":
                continue
            place = tokens[found.index].start
            if found.behind > found.index + 2:
                self.leave(place, "a part of the Objective-C interface, which is not there; remove the import")
            elif names:
                there = [name for name in names if name not in missing]
                if there:
                    self.leave(place, f"'import Realm' stays for {', '.join(there)}: name the product 'Realm' in the "
                                      "manifest")
                if missing:
                    self.leave(place, f"the product 'Realm' has no {', '.join(missing)}; write the types of "
                                      "RealmSwift")
            elif self._is_under_condition(place):
                self.leave(place, "'import Realm' stays, as it is compiled under a condition")
            elif found.first != found.index and tokens[found.index - 1].text != "@preconcurrency":
                self.leave(place, "'import Realm' stays for its attribute")
            elif is_missing:
                self.edits.replace(place, tokens[found.index + 1].end, self.folder.new_import("RealmSwift"))
                is_missing, has_other = False, True
            elif not has_other:
                self.leave(place, "'import Realm' stays: without RealmSwift nothing would be imported")
            else:
                self.edits.remove_statement(found.first, found.behind)
        if is_missing:
            self._add_import()
        self._foundation()

    def _foundation(self):
        """Imports Foundation where the vendor's module, or one for user interfaces, brought it along."""
        source, tokens = self.source, self.source.tokens
        found = [one for one in read_imports(source) if not self._is_under_condition(tokens[one.index].start)
                 or one.module in ("Foundation", *REALM_MODULES)]
        realm = [one for one in found if one.module in REALM_MODULES and one.is_whole]
        others = [one for one in found if one.module not in REALM_MODULES]
        words, has_foundation = self.folder.new_import("Foundation"), self._has("Foundation", others)
        if not realm or self.folder.is_exported("Foundation"):
            return
        if not others and any(self._is_foreign(k, FOUNDATION_NAMES) for k in range(len(tokens))):
            place = tokens[realm[0].first].start
            self.edits.insert(place, words + source.line_end(place) + self._indent(place))
        for one in others:
            is_plain = one.is_whole and one.first == one.index
            if one.module not in INTERFACE_MODULES or not is_plain or any(
                    self._is_foreign(k, INTERFACE_NAMES) for k in range(len(tokens))):
                continue
            if has_foundation:
                self.edits.remove_statement(one.first, one.behind)
            else:
                self.edits.replace(tokens[one.first].start, tokens[one.behind - 1].end, words)
                has_foundation = True
            self.leave(tokens[one.index].start,
                       f"'import {one.module}': only Foundation is used of it, as far as names tell", "note")

    def _has(self, module, found):
        return any(one.module == module and one.is_whole for one in found)

    def _is_foreign(self, k, names):
        """Whether a token is one of some names, of no member and of none of these sources."""
        token = self.source.tokens[k]
        return names.fullmatch(token.text) is not None and (k == 0 or self.source.tokens[k - 1].text != ".") \
            and isinstance(self.folder.names.find([token.text], self.source, k), Outside)

    def _is_of_realm(self, k):
        """Whether a token that stays names something of the module `Realm`, and no type of these sources."""
        token = self.source.tokens[k]
        return token.text.startswith("RLM") and token.text != "RLMIterator" and self.edits.is_free(token.start) \
            and isinstance(self.folder.names.find([token.text], self.source, k), Outside)

    def _add_import(self):
        """`import RealmSwift` behind the other imports, or at the top behind what is said of the file."""
        source, tokens, text = self.source, self.source.tokens, self.source.text
        words = self.folder.new_import("RealmSwift")
        own = [tokens[found.behind - 1].end for found in read_imports(source)]
        own = [place for place in own if not self._is_under_condition(place)]
        if own:
            rest = REST_OF_LINE.match(text, own[-1])
            if rest:
                self.edits.insert(rest.end(), source.line_end(rest.end()) + words)
            else:
                self.edits.insert(own[-1], f"; {words}")
            return
        first = max(text.rfind("\n", 0, source.first_code), text.rfind("\r", 0, source.first_code)) + 1
        # Comments right above the first declaration are about it, unless the file begins with them.
        place = first
        while (before := line_before(text, place)) is not None and text[before:place].strip():
            place = before
        if place == 0 and not text.startswith("///"):
            place = first
        line_end = source.line_end(first)
        self.edits.insert(place, f"{words}{line_end}{line_end}")
