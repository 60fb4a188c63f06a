"""What scripts/port-models changes: declarations of the older style, in classes that a Realm holds.

A folder is read as a whole first: which classes are models, which variables are boxes and how they are used, which
enumerations are stored. Then each source is changed by itself. What is met and left alone is said, with its reason.
"""
import re

from .declarations import (
    bare, behind_generics, behind_type, find_attribute, first_of, is_observed, is_word, read_members, read_types,
    type_name)
from .source import Edits

ROOTS = {"Object", "EmbeddedObject", "RealmSwiftObject", "RealmSwiftEmbeddedObject"}
COLLECTIONS = {"List", "MutableSet", "Map"}
BOXES = {"RealmOptional", "RealmProperty"}
# What Objective-C stored and Swift's types do not: by the word to write instead.
FOREIGN = {
    "NSDate": "Date", "NSData": "Data", "NSString": "String", "NSNumber": "Int?, Double? or Bool?",
    "NSUUID": "UUID", "CGFloat": "Double", "NSInteger": "Int", "RLMArray": "List",
}
SCALARS = {
    "Int", "Int8", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "String", "Date", "Data", "UUID", "ObjectId",
    "Decimal128", "Optional", "AnyRealmValue",
}
GONE = {"requiredProperties", "defaultPropertyValues", "linkingObjectsProperties", "propertyMapping"}


class Folder:
    """All sources that are ported together."""

    def __init__(self, sources):
        self.sources = sources
        self.types = {source: read_types(source) for source in sources}
        self.models = self._models()
        self.members = {}
        for types in self.types.values():
            for type_ in types:
                if self.is_model(type_) or self.extends_model(type_):
                    self.members[type_] = read_members(type_)
        self.boxes = self._boxes()
        self.stored_types = set()
        self.enums = self._enums()

    # Which classes are models

    def _models(self):
        own = {t.name for types in self.types.values() for t in types if t.outer is None and t.kind != "extension"}
        aliases = {}
        for source in self.sources:
            tokens = source.tokens
            for k in range(len(tokens) - 3):
                if tokens[k].text == "typealias" and tokens[k + 2].text == "=":
                    aliases[bare(tokens[k + 1].text)] = type_name(
                        source, k + 3, behind_type(source, k + 3, len(tokens)))
        exported = any(imports(source, "RealmSwift", exported=True) for source in self.sources)
        models, grown = set(), True
        while grown:
            grown = False
            for source, types in self.types.items():
                sees = exported or imports(source, "RealmSwift")
                for type_ in types:
                    if type_.kind != "class" or not type_.inherited or type_.name in models:
                        continue
                    above = type_.inherited[0][0]
                    for _ in range(8):
                        above = aliases.get(above, above)
                    root = above.removeprefix("RealmSwift.")
                    is_root = root in ROOTS and (above != root or (sees and root not in own))
                    if is_root or (above in models and above != type_.name):
                        models.add(type_.name)
                        grown = True
        return models

    def is_model(self, type_):
        return type_.kind == "class" and type_.name in self.models and bool(type_.inherited)

    def extends_model(self, type_):
        return type_.kind == "extension" and type_.name in self.models

    # Boxes: `RealmOptional` and `RealmProperty`

    def _boxes(self):
        """The names of boxes that can become optional variables, as `.value` is all that is made of them."""
        boxes, others = set(), set()
        self.owners = {}  # names of the classes that declare a box, by its name
        for type_, (variables, _) in self.members.items():
            for found in variables:
                for variable in found.names:
                    name = bare(type_.source.tokens[variable.name].text)
                    made = made_type(type_.source, found, variable) if not found.has("static") else None
                    if made and made[0] in BOXES:
                        boxes.add(name)
                        self.owners.setdefault(name, set()).add(type_.name)
        for name in list(boxes):
            for source in self.sources:
                if not only_values(source, name):
                    others.add(name)
        if boxes:
            others |= self._other_boxes()
        return boxes - others

    def _other_boxes(self):
        """Names of members that may have a `value` of their own, such as a subject of a library."""
        found = set()
        for types in self.types.values():
            for type_ in types:
                source = type_.source
                for variables in (self.members.get(type_) or read_members(type_))[0]:
                    for variable in variables.names:
                        made = made_type(source, variables, variable)
                        if made and made[0] in BOXES:
                            continue
                        if variable.type:
                            first = type_name(source, *variable.type)
                        else:
                            first = source.tokens[variable.value[0]].text if variable.value else ""
                        if first[:1].isupper() and first not in SCALARS:
                            found.add(bare(source.tokens[variable.name].text))
        return found

    def has_box(self, type_, name):
        """Whether a model, or an extension of one, has a box of that name, by itself or inherited."""
        above, seen = type_.name, set()
        while above not in seen:
            if above in self.owners.get(name, ()):
                return True
            seen.add(above)
            above = next((t.inherited[0][0] for types in self.types.values() for t in types
                          if t.kind == "class" and t.name == above and t.inherited), above)
        return False

    # Enumerations that are stored

    def _enums(self):
        """Names of the types that variables which become stored are declared with."""
        for type_, (variables, _) in self.members.items():
            source = type_.source
            for found in variables:
                if not is_objective(found) and not found.has("dynamic"):
                    continue
                for variable in found.names:
                    if variable.type:
                        self.stored_types.add(type_name(source, *variable.type))
                    elif variable.value and is_word(source.tokens[variable.value[0]].text):
                        self.stored_types.add(bare(source.tokens[variable.value[0]].text))
        return {
            type_ for types in self.types.values() for type_ in types
            if type_.kind == "enum" and type_.name in self.stored_types
            and (type_.attribute("@objc") or any(name == "RealmEnum" for name, _, _ in type_.inherited))}


def imports(source, module, exported=False):
    tokens = source.tokens
    for k in range(len(tokens) - 1):
        if tokens[k].text != "import":
            continue
        name = tokens[k + 2] if tokens[k + 1].text in IMPORT_KINDS and k + 2 < len(tokens) else tokens[k + 1]
        if name.text == module and (not exported or (k > 0 and tokens[k - 1].text == "@_exported")):
            return True
    return False


IMPORT_KINDS = {"class", "struct", "enum", "protocol", "typealias", "func", "let", "var"}


def only_values(source, name):
    """Whether all that a source does with members of that name is `.value`."""
    tokens = source.tokens
    for k, token in enumerate(tokens):
        if bare(token.text) != name:
            continue
        if is_member(tokens, k) and not is_value(tokens, k):
            return False
    return True


def is_member(tokens, k):
    """Whether a token names a member of something that stands before it; `.name` alone is a case or an argument."""
    if k < 2 or tokens[k - 1].text != ".":
        return False
    before = tokens[k - 2]
    return tokens[k - 1].newline or (
        before.end == tokens[k - 1].start
        and (re.search(r"\w`?$", before.text) is not None or before.text[-1] in ")]}?!>\\\""))


def is_value(tokens, k):
    """Whether `.value` follows a token."""
    return k + 2 < len(tokens) and tokens[k + 1].text == "." and tokens[k + 2].text == "value" \
        and not (k + 3 < len(tokens) and tokens[k + 3].text == "(")


def is_objective(variables):
    return any(token.text == "@objc" for token in variables.modifiers())


def made_type(source, variables, variable):
    """(`List`, its text, begin and end of the value) of a variable whose value is made as `List<T>()`; None else.

    The arguments come from the value or the annotation.
    """
    tokens = source.tokens
    annotated = None
    if variable.type:
        name = type_name(source, *variable.type).removeprefix("RealmSwift.")
        annotated = (name, text_of(source, *variable.type))
    if not variable.value:
        return None
    k, behind = variable.value
    if tokens[k].text == "RealmSwift" and tokens[k + 1].text == ".":
        k += 2
    if tokens[k].text == "." and tokens[k + 1].text == "init" and annotated:
        name, words, k = annotated[0], annotated[1], k + 2
    elif is_word(tokens[k].text):
        name, first = bare(tokens[k].text), k
        k += 1
        if k < behind and tokens[k].text == "<":
            k = behind_generics(source, k, behind)
            words = text_of(source, first, k)
        else:
            words = annotated[1] if annotated else None
        if k + 1 < behind and tokens[k].text == "." and tokens[k + 1].text == "init":
            k += 2
    else:
        return None
    if k >= behind or tokens[k].text != "(":
        return None
    close = source.partner[k]
    return name, words, (k, close), close + 1 == behind


def text_of(source, first, behind):
    return source.text[source.tokens[first].start:source.tokens[behind - 1].end]


def returned(source, function):
    """The tokens of the only expression that a function returns; None when it does more."""
    if not function.body:
        return None
    first, behind = function.body[0] + 1, function.body[1]
    if first < behind and source.tokens[first].text == "return":
        first += 1
    return (first, behind) if first < behind else None


def name_in(source, first, behind):
    """The property that an expression names: "id", #keyPath(Person.id)."""
    tokens = source.tokens
    if behind - first == 1:
        return source.literal(tokens[first])
    if tokens[first].text == "#keyPath" and source.partner.get(first + 1) == behind - 1:
        words = [t.text for t in tokens[first + 2:behind - 1]]
        if all(is_word(w) or w == "." for w in words) and words:
            return bare(words[-1])
    return None


def names_in(source, first, behind):
    """The properties that a list of names has; None when one cannot be told."""
    tokens = source.tokens
    if tokens[first].text != "[" or source.partner[first] != behind - 1:
        return None
    names, k = [], first + 1
    while k < behind - 1:
        end = k
        while end < behind - 1 and tokens[end].text != ",":
            end = source.partner[end] + 1 if tokens[end].text in "([" else end + 1
        name = name_in(source, k, end) if end > k else None
        if name is None:
            return None
        names.append(name)
        k = end + 1
    return names


class Port:
    """The changes of one source."""

    def __init__(self, folder, source):
        self.folder = folder
        self.source = source
        self.edits = Edits(source)
        self.left = []
        self.told = set()

    def run(self):
        for type_ in self.folder.types[self.source]:
            if self.folder.is_model(type_):
                self._model(type_)
            elif self.folder.extends_model(type_):
                self._extension(type_)
            elif type_ in self.folder.enums:
                self._enum(type_)
            elif type_.kind == "class":
                self._unknown(type_)
        self._values()
        self._import()
        self.left.sort()
        return self.edits.applied()

    def leave(self, place, words, kind="left"):
        note = (self.source.line(place), kind, words)
        if note not in self.told:
            self.told.add(note)
            self.left.append(note)

    # MARK: Classes

    def _model(self, type_):
        source, tokens = self.source, self.source.tokens
        variables, functions = self.folder.members[type_]
        mixed = any(v.has("@Persisted") for v in variables)
        declarations = self._declarations(type_)
        primary, indexed, ignored = (declarations.get(n, (None, None))[0] for n in
                                     ("primaryKey", "indexedProperties", "ignoredProperties"))
        roles, stored, unported = {}, set(), set()
        if primary:
            roles[primary[0]] = "primaryKey: true"
        for name in indexed or []:
            roles.setdefault(name, "indexed: true")
        for found in variables:
            stored_now, left_now = self._variables(found, roles, set(ignored or []), mixed)
            stored |= stored_now
            unported |= left_now
        kept = stored | {
            bare(tokens[n.name].text) for v in variables if v.has("@Persisted") for n in v.names}
        self._functions(type_, declarations, stored, kept, unported, variables)
        self._head(type_, functions)
        for function in functions:
            self._initializer(type_, function)
            if find_attribute(source, function.first, function.index, "@objc"):
                self.leave(tokens[function.index].start, f"'@objc' of '{function.name}': Linux has none; remove it")
            if function.name in GONE:
                self.leave(tokens[function.index].start, f"'{function.name}()' is none of the interface; remove it")
        own = [f for f in functions if f.name == "init" and not self._is_convenience(f)]
        if own and not any(f.parameters[1] == f.parameters[0] + 1 for f in functions if f.name == "init"):
            self.leave(
                tokens[own[0].index].start,
                f"'{type_.name}' has an initializer of its own: it needs 'required init() {{ super.init() }}', too")

    def _is_convenience(self, function):
        return any(t.text == "convenience" for t in self.source.tokens[function.first:function.index])

    def _declarations(self, type_):
        """What `primaryKey()` and its like say of a class, wherever they stand: (names, function)."""
        found = {}
        for other, (_, functions) in self.folder.members.items():
            if other is not type_ and not (other.kind == "extension" and other.name == type_.name):
                continue
            for function in functions:
                if function.name not in ("primaryKey", "indexedProperties", "ignoredProperties"):
                    continue
                body = returned(other.source, function)
                names = None
                if body and function.name == "primaryKey":
                    name = name_in(other.source, *body)
                    names = [name] if name else None
                elif body:
                    names = names_in(other.source, *body)
                found[function.name] = (names, function)
        return found

    def _functions(self, type_, declarations, stored, kept, unported, variables):
        """Removes the functions whose words the variables now have."""
        own = {bare(self.source.tokens[n.name].text) for v in variables for n in v.names}
        inside = {id(f) for f in self.folder.members[type_][1]}
        for name, (names, function) in declarations.items():
            counts = "it still counts" if id(function) in inside else "move it out of the extension, into the class"
            if function.source is not self.source:
                # It stands in an extension in another source, which removes it by the same rule.
                continue
            place = self.source.tokens[function.index].start
            if names is None:
                self.leave(place, f"'{name}()' does more than to name properties; {counts}")
            elif name == "ignoredProperties":
                if kept and set(names) <= own and not set(names) & unported:
                    self._remove_function(function)
                else:
                    self.leave(place, "'ignoredProperties()' stays: it names what is not declared here, "
                                      "or nothing of the class is stored")
            elif set(names) <= stored:
                self._remove_function(function)
            else:
                missing = ", ".join(sorted(set(names) - stored))
                self.leave(place, f"'{name}()' stays: {missing} is no property that was ported here; {counts}")

    def _extension(self, type_):
        source = self.source
        variables, functions = self.folder.members[type_]
        for other in self.folder.members:
            if self.folder.is_model(other) and other.name == type_.name and other.source is not source:
                port = Port(self.folder, other.source)
                port.edits = Edits(other.source)
                inner, _ = self.folder.members[other]
                declarations = port._declarations(other)
                ignored = declarations.get("ignoredProperties", (None, None))[0] or []
                stored, unported = set(), set()
                mixed = any(v.has("@Persisted") for v in inner)
                for found in inner:
                    stored_now, left_now = port._variables(found, {}, set(ignored), mixed)
                    stored |= stored_now
                    unported |= left_now
                mine = {n: d for n, d in declarations.items() if d[1].source is source}
                self._functions(other, mine, stored, stored, unported, inner) if not mine.get("ignoredProperties") \
                    else self._foreign_functions(other, mine, stored, unported, inner)
        for found in variables:
            objective = find_attribute(source, found.first, found.index, "@objc")
            if objective:
                self._strip(found)
        for function in functions:
            if find_attribute(source, function.first, function.index, "@objc"):
                self.leave(source.tokens[function.index].start,
                           f"'@objc' of '{function.name}': Linux has none; remove it")
        objective = type_.attribute("@objc") or type_.attribute("@objcMembers")
        if objective:
            self._remove_tokens(*objective)

    def _foreign_functions(self, other, declarations, stored, unported, inner):
        own = {bare(other.source.tokens[n.name].text) for v in inner for n in v.names}
        for name, (names, function) in declarations.items():
            wanted = own if name == "ignoredProperties" else stored
            if names is not None and stored and set(names) <= wanted and not set(names) & unported:
                self._remove_function(function)
            else:
                self.leave(self.source.tokens[function.index].start, f"'{name}()' stays; move it out of the extension, into the class")

    def _head(self, type_, functions):
        """`@objc(Name)`, `@objc` and `@objcMembers` of the class."""
        source, tokens = self.source, self.source.tokens
        objective = type_.attribute("@objc")
        if objective:
            first, behind = objective
            name = text_of(source, first + 2, behind - 1) if behind - first > 2 else type_.name
            self._remove_tokens(first, behind)
            if name != type_.name and not any(f.name == "_realmObjectName" for f in functions):
                words = [t.text for t in tokens[type_.first:type_.index]]
                access = "public " if "public" in words or "open" in words else ""
                self._first_member(
                    type_, f'{access}override class func _realmObjectName() -> String? {{ "{name}" }}')
        members = type_.attribute("@objcMembers")
        if members:
            self._remove_tokens(*members)

    def _first_member(self, type_, words):
        source = self.source
        opening = source.tokens[type_.body[0]]
        following = source.tokens[type_.body[0] + 1]
        between = source.text[opening.end:following.start]
        if "\n" in between or "\r" in between:
            line_end = re.search(r"\r\n|\r|\n", between).group()
            if type_.body[0] + 1 == type_.body[1]:
                indent = self._indent(tokens_start(source, type_.first)) + "    "
            else:
                indent = self._indent(following.start)
            rest = re.compile(r"[^\r\n]*").match(source.text, opening.end).end()
            self.edits.insert(rest, line_end + indent + words + (
                line_end if type_.body[0] + 1 != type_.body[1] else ""))
        else:
            self.edits.insert(opening.end, f" {words}" + ("; " if type_.body[0] + 1 != type_.body[1] else " "))

    def _indent(self, place):
        text = self.source.text
        begin = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
        return re.compile(r"[ \t]*").match(text, begin).group()

    def _initializer(self, type_, function):
        source, tokens = self.source, self.source.tokens
        if function.name != "init":
            return
        words = [t.text for t in tokens[function.first:function.index]]
        inside = [t.text for t in tokens[function.parameters[0]:function.parameters[1]]]
        if "RLMObjectSchema" in inside or "RLMSchema" in inside or "RLMRealm" in inside:
            self.leave(tokens[function.index].start, "an initializer for the Objective-C interface; remove it")
        if "override" not in words or function.parameters[1] != function.parameters[0] + 1:
            return
        override = next(k for k in range(function.first, function.index) if tokens[k].text == "override")
        if "required" in words:
            # Fine as it is; 'override' alone is what is missing a word.
            return
        self.edits.replace(tokens[override].start, tokens[override].end, "required")

    def _remove_function(self, function):
        """Removes a function with its documentation, and one of the blank lines around it."""
        source, text = self.source, self.source.text
        begin = source.tokens[function.first].start
        end = source.tokens[function.body[1]].end
        rest = re.compile(r"[^\r\n]*").match(text, end).group()
        if re.search(r"//|/\*", text[begin:end]) or rest.strip().startswith("//"):
            self.leave(begin, f"a comment goes with '{function.name}()'", "note")
        line = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        rest = re.compile(r"[^\r\n]*").match(text, end).group()
        if text[line:begin].strip() or (rest.strip() and not rest.strip().startswith("//")):
            behind = re.compile(r"[ \t]*;?[ \t]*").match(text, end).end()
            self.edits.replace(begin, behind, "")
            return
        end = re.compile(r"\r\n|\r|\n|$").match(text, end + len(rest)).end()
        line = _before_documentation(text, line)
        blank_before = re.compile(r"[ \t]*(\r\n|\r|\n)")
        before = _line_before(text, line)
        if before is not None and not text[before:line].strip():
            closes = re.compile(r"[ \t]*\}").match(text, end) is not None
            follows = blank_before.match(text, end) is not None
            if closes or follows:
                line = before
        elif (match := blank_before.match(text, end)) is not None:
            end = match.end()
        self.edits.replace(line, end, "")

    # MARK: Variables

    def _variables(self, found, roles, ignored, mixed):
        """Ports what one `var` or `let` declares.

        Returns the names that are stored, and those that should be and are not.
        """
        source, tokens = self.source, self.source.tokens
        names = [bare(tokens[v.name].text) for v in found.names]
        place = tokens[found.index].start
        objective = is_objective(found)
        if found.has("@Persisted"):
            return set(), set()
        if found.has("static") or any(
                t.text == "class" for t in found.modifiers()):
            if objective:
                self._strip(found)
            return set(), set()
        if found.has("dynamic") or (objective and tokens[found.index].text == "var"):
            return self._dynamic(found, names, roles, ignored, mixed)
        makes = len(found.names) == 1 and made_type(source, found, found.names[0])
        if objective and not (makes and makes[0] in COLLECTIONS | BOXES | {"LinkingObjects"}):
            self.leave(place, f"'@objc let {names[0]}': a constant is not stored, and Linux has no '@objc'; remove it")
            return set(), set()
        if len(found.names) != 1:
            made = [made_type(source, found, variable) for variable in found.names]
            if not any(m and m[0] in COLLECTIONS | BOXES | {"LinkingObjects"} for m in made):
                return set(), set()
            return self._several_made(found, names, made, roles, ignored, mixed)
        return self._made(found, found.names[0], names[0], roles, ignored, mixed)

    def _dynamic(self, found, names, roles, ignored, mixed):
        source, tokens = self.source, self.source.tokens
        place = tokens[found.index].start
        blocks = [v.block for v in found.names if v.block]
        is_computed = any(not is_observed(source, block) for block in blocks)
        if is_computed or set(names) <= ignored:
            self._strip(found)
            return set(), set()
        if mixed:
            self.leave(place, f"'{names[0]}' is not stored where '@Persisted' is used, too: write '@Persisted' or "
                              "take '@objc dynamic' away")
            return set(), set(names)
        for word, reason in (("weak", "a wrapped variable cannot be weak; take 'weak' away, a link keeps nothing in "
                                      "a file"),
                             ("lazy", "a lazy variable cannot be stored"), ("unowned", "it cannot be unowned"),
                             ("override", "a stored property cannot be overridden")):
            if found.has(word):
                self.leave(place, f"'{names[0]}': {reason}")
                return set(), set(names)
        if set(names) & ignored:
            self.leave(place, "some of these are ignored and others not; write one a line")
            return set(), set(names)
        for variable in found.names:
            name = type_name(source, *variable.type) if variable.type else (
                bare(tokens[variable.value[0]].text) if variable.value else "")
            name = name.removeprefix("RealmSwift.")
            if name in FOREIGN:
                self.leave(place, f"'{name}' cannot be stored; write {FOREIGN[name]}")
                return set(), set(names)
            if variable.type and tokens[variable.type[0]].text == "[":
                self.leave(place, "an array or dictionary cannot be stored; write List or Map")
                return set(), set(names)
            if variable.type is None and variable.value is None:
                self.leave(place, f"'{names[0]}' cannot be read")
                return set(), set(names)
            made = made_type(source, found, variable)
            if made and made[0] in COLLECTIONS | BOXES | {"LinkingObjects"}:
                if len(found.names) == 1:
                    return self._made(found, variable, names[0], roles, ignored, mixed)
                self.leave(place, "several collections in one declaration; write one a line")
                return set(), set(names)
        if len(found.names) > 1:
            return self._several(found, names, roles)
        self._mark(found, self._wrapper(names[0], roles))
        return {names[0]}, set()

    def _wrapper(self, name, roles):
        return f"@Persisted({roles[name]})" if name in roles else "@Persisted"

    def _mark(self, found, wrapper):
        """Puts the wrapper in the place of `@objc`, and takes `dynamic` away."""
        source, tokens = self.source, self.source.tokens
        objective = find_attribute(source, found.first, found.index, "@objc")
        if objective:
            if objective[1] - objective[0] > 1:
                self.leave(tokens[objective[0]].start, "the name for Objective-C in '@objc(...)' goes", "note")
            self.edits.replace(tokens[objective[0]].start, tokens[objective[1] - 1].end, wrapper)
        else:
            self.edits.insert(tokens[found.first].start, wrapper + " ")
        self._remove_word(found, "dynamic")

    def _remove_word(self, found, word):
        for k in range(found.first, found.index):
            if self.source.tokens[k].text == word:
                self._remove_tokens(k, k + 1)

    def _strip(self, found):
        objective = find_attribute(self.source, found.first, found.index, "@objc")
        if objective:
            self._remove_tokens(*objective)
        self._remove_word(found, "dynamic")

    def _remove_tokens(self, first, behind):
        self.edits.remove(self.source.tokens[first].start, self.source.tokens[behind - 1].end)

    def _head_words(self, found):
        """Attributes and modifiers, without those for Objective-C."""
        source, tokens = self.source, self.source.tokens
        head = []
        k = found.first
        while k < found.index:
            if tokens[k].text == "@objc":
                k = find_attribute(source, k, found.index, "@objc")[1]
            elif tokens[k].text == "dynamic":
                k += 1
            elif k + 1 < found.index and tokens[k + 1].text == "(":
                head.append(text_of(source, k, source.partner[k + 1] + 1))
                k = source.partner[k + 1] + 1
            else:
                head.append(tokens[k].text)
                k += 1
        return head

    def _replace_by_lines(self, begin, end, lines):
        match = re.search(r"\r\n|\r|\n", self.source.text)
        line_end = match.group() if match else "\n"
        self.edits.replace(begin, end, (line_end + self._indent(begin)).join(lines))

    def _several(self, found, names, roles):
        """`var a = 0, b = 0`: one declaration each, as a wrapper takes one."""
        source, tokens = self.source, self.source.tokens
        head = self._head_words(found)
        lines = []
        for variable, name in zip(found.names, names):
            words = " ".join([self._wrapper(name, roles)] + head + ["var", tokens[variable.name].text])
            if variable.type:
                words += f": {text_of(source, *variable.type)}"
            if variable.value:
                words += f" = {text_of(source, *variable.value)}"
            if variable.block:
                words += f" {text_of(source, *variable.block)}"
            lines.append(words)
        begin, end = tokens[found.first].start, tokens[found.end - 1].end
        written = source.text[begin:end]
        if "//" in written or "/*" in written:
            self.leave(begin, "several variables with comments in one declaration; write one a line")
            return set(), set(names)
        self._replace_by_lines(begin, end, lines)
        return set(names), set()

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
        self._replace_by_lines(begin, end, lines)
        return set(names), set()

    def _made(self, found, variable, name, roles, ignored, mixed):
        """`List<T>()` and its like, boxes, and backlinks."""
        source, tokens = self.source, self.source.tokens
        made = made_type(source, found, variable)
        if name in ignored or (variable.block and not is_observed(source, variable.block)):
            return set(), set()
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
        if name not in self.folder.boxes:
            self.leave(place, f"'{name}' stays a {kind}, which is stored, too: it is not used by '.value' alone")
            return set(), {name}
        inner = words[words.index("<") + 1:words.rindex(">")].strip()
        if kind == "RealmOptional":
            inner += "?"
        value = None
        if closing > opening + 1:
            if tokens[opening + 1].text == "value" and tokens[opening + 2].text == ":":
                opening += 2
            value = text_of(source, opening + 1, closing)
        self._declare(found, variable, self._wrapper(name, roles), inner, value)
        return {name}, set()

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

    # MARK: Other declarations

    def _enum(self, type_):
        source, tokens = self.source, self.source.tokens
        objective = type_.attribute("@objc")
        if objective:
            self._remove_tokens(*objective)
        names = [name for name, _, _ in type_.inherited]
        if "PersistableEnum" in names:
            return
        for name, first, behind in type_.inherited:
            if name == "RealmEnum":
                self.edits.replace(tokens[first].start, tokens[behind - 1].end, "PersistableEnum")
                return
        if type_.inherited:
            self.edits.insert(tokens[type_.inherited[-1][2] - 1].end, ", PersistableEnum")

    def _unknown(self, type_):
        """A class of old properties whose superclass is not among the sources."""
        if not type_.inherited or not imports(self.source, "RealmSwift"):
            return
        above = type_.inherited[0][0]
        known = {t.name for types in self.folder.types.values() for t in types}
        if above in known or above.startswith("NS") or above.startswith("UI"):
            return
        variables, _ = read_members(type_)
        if any(is_objective(v) and v.has("dynamic") for v in variables):
            self.leave(
                self.source.tokens[type_.index].start,
                f"'{type_.name}': whether '{above}' is a class of a Realm is not told by these sources")

    def _values(self):
        """`.value` of boxes that are boxes no more."""
        tokens = self.source.tokens
        for k, token in enumerate(tokens):
            name = bare(token.text)
            if name in self.folder.boxes and is_value(tokens, k) and (
                    is_member(tokens, k) or self._is_own_box(k, name)):
                self.edits.replace(tokens[k + 1].start, tokens[k + 2].end, "")

    def _is_own_box(self, k, name):
        """Whether a name without anything before it is a box of the class around it, and no parameter or constant."""
        tokens = self.source.tokens
        around = [t for t in self.folder.types[self.source] if t.body[0] < k < t.body[1]]
        if not around or around[-1] not in self.folder.members or not self.folder.has_box(around[-1], name):
            return False
        for function in self.folder.members[around[-1]][1]:
            if function.body and function.body[0] < k < function.body[1]:
                for j in range(function.parameters[0], function.body[1]):
                    if bare(tokens[j].text) != name:
                        continue
                    following = [t.text for t in tokens[j + 1:j + 6]]
                    if j < function.parameters[1]:
                        # A number or text has no `value`; a label before another name is no name of a value.
                        if following[0] == ":" and following[1] not in SCALARS:
                            return False
                    elif following[0] == "in" or tokens[j - 1].text == "for" or (
                            tokens[j - 1].text in ("let", "var") and following[:4] != ["=", name, ".", "value"]):
                        return False
        return True

    def _import(self):
        source, tokens = self.source, self.source.tokens
        names = sorted({t.text for t in tokens if t.text.startswith("RLM") and t.text != "RLMIterator"})
        for k in range(len(tokens) - 1):
            if tokens[k].text != "import" or tokens[k + 1].text != "Realm":
                continue
            place = tokens[k].start
            if k + 2 < len(tokens) and tokens[k + 2].text == "." and not tokens[k + 2].newline:
                self.leave(place, "a part of the Objective-C interface, which is not there; remove the import")
            elif names:
                self.leave(place, f"'import Realm' stays for {', '.join(names)}: name the product 'Realm' in the "
                                  "manifest")
            elif any(begin <= place < end for begin, end in source.conditional):
                self.leave(place, "'import Realm' stays, as it is compiled under a condition")
            elif first_of(source, k) != k and tokens[k - 1].text != "@preconcurrency":
                self.leave(place, "'import Realm' stays for its attribute")
            elif not imports(source, "RealmSwift"):
                self.leave(place, "'import Realm' stays: without RealmSwift nothing would be imported")
            else:
                self._remove_tokens(first_of(source, k), k + 2)


def tokens_start(source, index):
    return source.tokens[index].start


def _line_before(text, line):
    """Where the line before a line begins; None at the first."""
    if line == 0:
        return None
    end = line - 1
    if text[end] == "\n" and end > 0 and text[end - 1] == "\r":
        end -= 1
    return max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1


def _before_documentation(text, line):
    """Where the documentation above a line begins."""
    while (before := _line_before(text, line)) is not None:
        words = text[before:line].strip()
        if words.startswith("///"):
            line = before
            continue
        if not words.endswith("*/"):
            return line
        begin = text.rfind("/**", 0, line)
        first = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        if begin < 0 or text.find("*/", begin, line) != text.rfind("*/", begin, line) or text[first:begin].strip():
            return line
        line = first
    return line
