// The text of objects and collections for logs and debuggers.

/// Makes `description`s.
enum ObjectDescription {
  /// How many objects and collections the one that is described now is inside of.
  ///
  /// Of the task, so that it passes through `description` of every type.
  @TaskLocal private static var depth = 0
  private static let depthMax = 5

  /// Class, and the name and value of each stored property, a line each.
  static func text(of object: ObjectBase) -> String {
    let schema = object.classSchema
    if object.isInvalidated { return "[invalid object]" }
    var text = "\(schema.name) {\n"
    for property in schema.properties where !property.isComputed {
      let value = property.codec.value(object.pointer(to: property), object)
      text += "\t\(property.name) = \(indented(Self.text(of: value)));\n"
    }
    return text + "}"
  }

  /// A value inside of an object or a collection.
  static func text(of value: Any?) -> String {
    guard let value else { return "(null)" }
    if let value = value as? Bool { return value ? "1" : "0" }
    guard value is ObjectBase || value is any ThreadConfined || value is any Sequence,
      !(value is String)
    else {
      let text = ValueText.of(value)
      return text.count > 1000 ? "\(text.prefix(1000))..." : text
    }
    if depth + 1 >= depthMax { return "<Maximum depth exceeded>" }
    return $depth.withValue(depth + 1) { String(describing: value) }
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
    text(of: elements.prefix(100), count: elements.count, "\(kind)<\(typeName)>", identity) {
      "[\($0)] " + ObjectDescription.text(of: $1._anyElement)
    }
  }

  /// Type, address and elements, a line each.
  static func text<Elements: Sequence>(
    of elements: Elements, count: Int, _ type: String, _ identity: AnyObject,
    _ line: (Int, Elements.Element) -> String
  ) -> String {
    let address = String(UInt(bitPattern: Unmanaged.passUnretained(identity).toOpaque()), radix: 16)
    var lines = elements.enumerated().map { "\t" + indented(line($0.offset, $0.element)) }
      .joined(separator: ",\n")
    if count > 100 { lines += "\n\t... \(count - 100) objects skipped." }
    return "\(type) <0x\(address)> (\n\(lines)\n)"
  }
}

/// A text of several lines, all but the first one tab deeper.
func indented(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n\t")
}
