// The values that a condition compares with, in the form that columns have.
internal import Foundation
internal import ObjectStore

extension Double {
  /// Whether the number is finite, but too large for `Float`, which has infinity in its place.
  var isTooLargeForFloat: Bool { isFinite && Float(self).isInfinite }

  /// What values of type `Float` are compared with: the nearest one, or the number itself where it
  /// is too large.
  var roundedForFloats: Double { isTooLargeForFloat ? self : Double(Float(self)) }
}

extension PlanConstant {
  /// The form that a value has in a column of a type; nil when it has none.
  init?(_ value: Any, _ type: PropertyType, _ realm: ConfinedRealm, target: Int?) {
    switch type {
    case .int:
      if let integer = plainInteger(value) {
        self = .integer(Int64(integer))
      } else if value is Double || value is Float {
        let number = Double._fromAny(value)!
        // Columns, indexes and primary keys are searched faster by integers.
        self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
      } else if let constant = PlanConstant(number: value) {
        self = constant
      } else {
        return nil
      }
    case .bool:
      guard let bool = Bool._fromAny(value) else { return nil }
      self = .bool(bool)
    case .float:
      // Rounded: what is written as 0.1 means the property's own 0.1.
      guard let number = Double._fromAny(value) ?? (value as? Decimal128)?.doubleValue else {
        return nil
      }
      self = .number(number.roundedForFloats)
    case .double:
      if let number = plain(value, Double.self) {
        self = .number(number)
      } else if let constant = PlanConstant(number: value) {
        self = constant.asExactNumber
      } else {
        return nil
      }
    case .date:
      guard let date = plain(value, Date.self) ?? value as? Date else { return nil }
      self = .date(date.timeIntervalSinceReferenceDate)
    case .string:
      guard let text = plainText(value) ?? value as? String else { return nil }
      self = .text(Array(text.utf8))
    case .data:
      guard let data = value as? Data else { return nil }
      self = .bytes(.data, Array(data))
    case .decimal128:
      guard let number = Decimal128._fromAny(value)?.number else { return nil }
      self = .decimal(number)
    case .UUID:
      guard let uuid = plain(value, UUID.self) ?? value as? UUID else { return nil }
      self = .bytes(type, uuid._withBytes { Array($0) })
    case .objectId:
      guard let value = value as? any _BytesValue, Swift.type(of: value)._rlmType == type else {
        return nil
      }
      self = .bytes(type, value._withBytes { Array($0) })
    case .any:
      guard let constant = PlanConstant(mixed: value, realm) else { return nil }
      self = constant
    case .object, .linkingObjects:
      guard let object = value as? ObjectBase else { return nil }
      guard let table = object._table, object._realm?.store === realm.store,
        !table.pointee.binding.isForeign
      else {
        // Nothing links to what is not in this Realm.
        self = .link(table: -1, ObjectKey(rawValue: -1))
        return
      }
      let position = realm.position(of: table.pointee.binding)
      if let target, target != position { return nil }
      self = .link(table: position, object.lastingKey)
    }
  }

  /// The form that a value has in a mixed column; nil when it has none.
  private init?(mixed value: Any, _ realm: ConfinedRealm) {
    // A number of Foundation's can be cast to every other, a truth value too.
    if type(of: value) is NSNumber.Type {
      if case .bool(let truth) = AnyRealmValue._fromAny(value) {
        self = .bool(truth)
      } else if let constant = PlanConstant(number: value) {
        self = constant
      } else {
        return nil
      }
      return
    }
    switch value {
    case let value as Bool: self = .bool(value)
    case let object as ObjectBase:
      guard let table = object._table?.pointee.binding.table, object._realm?.store === realm.store
      else {
        self = .mixedLink(table: .max, ObjectKey(rawValue: -1))
        return
      }
      self = .mixedLink(table: table.tableKey, object.lastingKey)
    case let value as any _BytesValue:
      let type = Swift.type(of: value)._rlmType
      self = value._withBytes { PlanConstant(PlanValue(bytes: $0, type)) }
    case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
    case is any _UntypedElements, is any _UntypedEntries:
      // Compared as a whole, byte by byte.
      guard let value = AnyRealmValue._fromAny(value) else { return nil }
      var writer = AnyValueWriter { (realm.tableKey(of: $0), $0.lastingKey) }
      writer.append(value)
      self = .bytes(.any, writer.bytes)
    default:
      guard let constant = PlanConstant(number: value) else { return nil }
      self = constant
    }
  }

  /// A number without loss: an integer, else a double precision number, else a decimal one.
  private init?(number value: Any) {
    if let integer = Int64._fromAny(value), !(value is Double || value is Float) {
      self = .integer(integer)
    } else if let number = Double._fromAny(value) {
      self = .number(number)
    } else if let decimal = value as? Decimal128 {
      self = .decimal(decimal.number)
    } else {
      return nil
    }
  }

  /// An integer as a number, of which columns of numbers are searched faster, if it is one.
  private var asExactNumber: PlanConstant {
    guard case .integer(let integer) = self, Int64(exactly: Double(integer)) == integer else {
      return self
    }
    return .number(Double(integer))
  }
}
