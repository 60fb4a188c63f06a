"""What declarations and expressions of an older source say: names of types, properties and imports."""
import re
from collections import namedtuple

from .declarations import PAIRS_OPEN, bare, behind_generics, first_of, is_word, type_words
from .words import PART

ROOTS = {"Object", "EmbeddedObject", "RealmSwiftObject", "RealmSwiftEmbeddedObject"}
COLLECTIONS = {"List", "MutableSet", "Map"}
BOXES = {"RealmOptional", "RealmProperty"}
KINDS = COLLECTIONS | BOXES | {"LinkingObjects"}
# What Objective-C stored and Swift's types do not: by the word to write instead.
FOREIGN = {
    "NSDate": "Date", "NSData": "Data", "NSString": "String", "NSNumber": "Int?, Double? or Bool?",
    "NSUUID": "UUID", "CGFloat": "Double", "NSInteger": "Int", "RLMArray": "List",
}
SCALARS = {
    "Int", "Int8", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "String", "Date", "Data", "UUID", "ObjectId",
    "Decimal128", "Optional", "AnyRealmValue",
}
# Functions that name properties.
NAMING = ("primaryKey", "indexedProperties", "ignoredProperties")
# What the product `Realm` has, Sources/Realm/ObjectiveCNames.swift.
PRODUCT_REALM = {
    "RLMAsyncOpenTask", "RLMAsyncTransactionId", "RLMDecimal128", "RLMError", "RLMErrorDomain", "RLMLogLevel",
    "RLMLogger", "RLMMigration", "RLMMigrationBlock", "RLMNotificationToken", "RLMObjectBase", "RLMObjectId",
    "RLMPropertyType", "RLMRealmPathForFile", "RLMShouldCompactOnLaunchBlock",
}
GONE = {"requiredProperties", "defaultPropertyValues", "linkingObjectsProperties", "propertyMapping"}


# An import: its first token, that of `import`, the token behind, the module, whether all of that
# is imported, whether the sources beside this one see it, and `public` and its like, or None.
Import = namedtuple("Import", "first index behind module is_whole is_exported access")
ACCESS = ("public", "package", "internal", "fileprivate", "private")
IMPORT_KINDS = {"class", "struct", "enum", "protocol", "typealias", "func", "let", "var"}


def read_imports(source):
    """The imports of a source, which stand outside of all brackets."""
    tokens, found, k = source.tokens, [], 0
    while k + 1 < len(tokens):
        if tokens[k].text != "import" or not is_word(tokens[k + 1].text) or k > 0 and tokens[k - 1].text == ".":
            k = source.partner[k] + 1 if tokens[k].text in PAIRS_OPEN else k + 1
            continue
        first = first_of(source, k)
        name = k + 2 if tokens[k + 1].text in IMPORT_KINDS and k + 2 < len(tokens) else k + 1
        behind = name + 1
        while behind + 1 < len(tokens) and tokens[behind].text == "." and is_word(tokens[behind + 1].text):
            behind += 2
        modifiers = [token.text for token in tokens[first:k]]
        access = next((word for word in ACCESS if word in modifiers), None)
        # `import class A.B` and `import A.B` are longer than `import A`.
        found.append(Import(
            first, k, behind, tokens[name].text, behind == k + 2, "@_exported" in modifiers, access))
        k = behind
    return found


def imports(source, module, whole=False, exported=False):
    return any(found.module == module and (found.is_whole or not whole) and (found.is_exported or not exported)
               for found in read_imports(source))


def is_member(tokens, k):
    """Whether a token names a member of something that stands before it; `.name` alone is a case or an argument."""
    if k < 2 or tokens[k - 1].text != ".":
        return False
    before = tokens[k - 2]
    return tokens[k - 1].newline or (
        before.end == tokens[k - 1].start
        and (re.search(f"{PART}`?$", before.text) is not None or before.text[-1] in ")]}?!>\\\""))


def is_value(tokens, k):
    """Whether `.value` follows a token."""
    return k + 2 < len(tokens) and tokens[k + 1].text == "." and tokens[k + 2].text == "value" \
        and not (k + 3 < len(tokens) and tokens[k + 3].text == "(")


def is_objective(variables):
    return any(token.text == "@objc" for token in variables.modifiers())


def made_type(source, variables, variable):
    """What a variable's value is made of, where it is made as `List<T>()`; None else."""
    tokens = source.tokens
    annotated, text = "", None
    if variable.type:
        annotated, text = ".".join(type_words(source, *variable.type)), text_of(source, *variable.type)
    if not variable.value:
        return None
    first, behind = variable.value
    k = first
    if tokens[k].text == "." and tokens[k + 1].text == "init" and annotated:
        name, k = annotated, k + 2
    elif is_word(tokens[k].text):
        name, k = bare(tokens[k].text), k + 1
        if name == "RealmSwift" and k + 1 < behind and tokens[k].text == ".":
            name, k = f"RealmSwift.{bare(tokens[k + 1].text)}", k + 2
        if k < behind and tokens[k].text == "<":
            k = behind_generics(source, k, behind)
            # Of the type and the value, the type is what the author meant to be read.
            if not text or not text.endswith(">") or last_word(annotated) != last_word(name):
                text = text_of(source, first, k)
        if k + 1 < behind and tokens[k].text == "." and tokens[k + 1].text == "init":
            k += 2
    else:
        return None
    if k >= behind or tokens[k].text != "(":
        return None
    close = source.partner[k]
    if text and kind_of(text):
        text = None  # `List` alone
    return Made(name, kind_of(name), text, (k, close), close + 1 == behind)


# What a value is made of: the name as it is written, the kind where that is one of the interface,
# the type with its arguments or None, the brackets behind it, and whether nothing follows.
Made = namedtuple("Made", "name kind text brackets is_whole")


def last_word(name):
    return name.rpartition(".")[2]


def kind_of(name):
    """`List` and its like for `List` and `RealmSwift.List`; None for other names, `Mine.List` among them."""
    kind = name.removeprefix("RealmSwift.")
    return kind if kind in KINDS else None


MODULES = {"Swift", "Foundation", "CoreGraphics", "RealmSwift"}


def behind_module(source, first):
    """The token behind `Foundation.` and its like; the same one where no module is named."""
    tokens = source.tokens
    is_named = tokens[first].text in MODULES and first + 2 < len(tokens) and tokens[first + 1].text == "."
    return first + 2 if is_named else first


# Members of foreign types whose own types are plain.
PLAIN_MEMBERS = {
    "uuidString", "timeIntervalSince1970", "timeIntervalSinceReferenceDate", "timeIntervalSinceNow", "intValue",
    "int64Value", "int32Value", "doubleValue", "floatValue", "boolValue", "stringValue", "description", "hash",
    "length", "count", "lowercased", "uppercased",
}


def stays_foreign(source, first, behind):
    """Whether a value that begins with a foreign type is of one: `NSUUID()` is, `NSUUID().uuidString` is not."""
    tokens, k = source.tokens, first + 1
    if k + 1 < behind and tokens[k].text == "." and tokens[k + 1].text == "init":
        k += 2
    if k >= behind or tokens[k].text != "(":
        return True
    k = source.partner[k] + 1
    if k + 1 < behind and tokens[k].text == "as" and is_word(tokens[k + 1].text):
        return tokens[k + 1].text not in SCALARS
    return not (k + 1 < behind and tokens[k].text == "." and tokens[k + 1].text in PLAIN_MEMBERS)


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
