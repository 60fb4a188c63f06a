// The text of objects and collections for logs and debuggers.

/// Makes `description`s.
enum ObjectDescription {
  /// Class, and the name and value of each property, indented by `depth` tabs.
  static func text(of object: ObjectBase, depth: Int) -> String {
    let schema = object.classSchema
    if object.isInvalidated { return "[invalid object]" }
    let indent = String(repeating: "\t", count: depth)
    var text = "\(schema.name) {\n"
    for property in schema.properties {
      let value = property.codec.value(object.pointer(to: property), object)
      text += "\(indent)\t\(property.name) = \(Self.text(of: value));\n"
    }
    return text + "\(indent)}"
  }

  static func text(of value: Any?) -> String {
    guard let value else { return "(null)" }
    let text = String(describing: value)
    return text.count > 1000 ? "\(text.prefix(1000))..." : text
  }
}

/// Makes `description`s of collections.
enum CollectionDescription {
  /// The name of an element type: the class of objects, else the type's.
  static func name<Element: RealmCollectionValue>(_: Element.Type) -> String {
    Element._rlmObjectClass?.className() ?? "\(Element._rlmType)"
  }

  /// Kind, element type, address and the first hundred elements.
  static func text<Elements: RealmCollection>(
    of elements: Elements, kind: String, _ typeName: String, _ identity: AnyObject
  ) -> String {
    let address = String(UInt(bitPattern: ObjectIdentifier(identity).hashValue), radix: 16)
    var text = "\(kind)<\(typeName)> <0x\(address)> ("
    for (index, element) in elements.prefix(100).enumerated() {
      text += "\(index == 0 ? "" : ",")\n\t[\(index)] "
      if let object = element as? ObjectBase {
        text += ObjectDescription.text(of: object, depth: 1)
      } else {
        text += ObjectDescription.text(of: element._anyElement)
      }
    }
    let rest = elements.count - 100
    if rest > 0 { text += "\n\t... \(rest) objects skipped." }
    return text + "\n)"
  }
}
