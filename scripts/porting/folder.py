"""All sources that are ported together: which classes are models, which boxes and enumerations they use."""
from .declarations import bare, behind_type, is_word, read_members, read_types, type_name
from .expressions import BOXES, ROOTS, SCALARS, imports, is_objective, made_type, only_values


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
