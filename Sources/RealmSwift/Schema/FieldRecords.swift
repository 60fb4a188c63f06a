// Which stored properties of a class are variables. The standard library's walk over the fields of
// a class tells their names, places and types; whether one can be assigned to stands only in the
// records that the compiler writes for reflection, which are read here.
//
// Layout (Swift's stable metadata; offsets in bytes, relative pointers are Int32):
//   class metadata:    40 descriptor
//   class descriptor:  16 relative pointer to the fields
//   fields:            10 size of a record (UInt16)  12 number of records (UInt32)  16 records
//   record:            0 flags, 0x2 for a variable

enum FieldRecords {
  private static let descriptorOffset = 40
  private static let fieldsOffset = 16
  private static let variableFlag: UInt32 = 2

  /// For each stored property of a class, those of its superclasses first: whether it is declared
  /// with `var`.
  ///
  /// A class whose fields are not described, which the compiler can be told, has none.
  static func areVariables(_ objectClass: AnyClass) -> [Bool] {
    let inherited = _getSuperclass(objectClass).map { areVariables($0) } ?? []
    // A class object is its metadata.
    let descriptor = unsafeBitCast(objectClass, to: UnsafeRawPointer.self)
      .load(fromByteOffset: descriptorOffset, as: UnsafeRawPointer.self)
    let field = descriptor + fieldsOffset
    let distance = field.load(as: Int32.self)
    if distance == 0 { return inherited }
    let fields = field + Int(distance)
    let size = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
    let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
    return inherited
      + (0..<count).map { position in
        let flags = fields.load(fromByteOffset: 16 + position * size, as: UInt32.self)
        return flags & variableFlag != 0
      }
  }
}
