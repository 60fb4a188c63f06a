"""What declarations and expressions of an older source say: names of types, properties and imports."""
import re

from .declarations import bare, behind_generics, is_word, type_name

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
# Functions that name properties.
NAMING = ("primaryKey", "indexedProperties", "ignoredProperties")
GONE = {"requiredProperties", "defaultPropertyValues", "linkingObjectsProperties", "propertyMapping"}


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
