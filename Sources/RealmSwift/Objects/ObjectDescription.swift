// The text of objects and collections for logs and debuggers.

/// Makes `description`s.
enum ObjectDescription {
  /// Class, and the name and value of each property, indented by `depth` tabs.
  static func text(of object: ObjectBase, depth: Int) -> String {
    let schema = object._table?.pointee.binding.schema ?? ClassSchema.of(type(of: object))
    if object.isInvalidated { return "[invalid object]" }
    let indent = String(repeating: "\t", count: depth)
    var text = "\(schema.name) {\n"
    for property in schema.properties {
      let value = property.codec.value(object.pointer(to: property), object)
      text += "\(indent)\t\(property.name) = \(Self.text(of: value));\n"
    }
    return text + "\(indent)}"
  }

  private static func text(of value: Any?) -> String {
    guard let value else { return "(null)" }
    let text = String(describing: value)
    return text.count > 1000 ? "\(text.prefix(1000))..." : text
  }
}
