// From key paths to the hops and columns of one class.
internal import ObjectStore

extension PlanResolver {
  /// A path through the schema.
  private struct Walk {
    var path = PlanPath(end: .subject, type: .object)
    /// The class that the walk has come to; nil at a value.
    var binding: TableBinding?
    /// The class of the last property.
    var className: String
    /// How many hops lead to the last collection.
    var lastCollection: Int?
    /// The class that the last collection belongs to.
    var owner: TableBinding?
    /// Whether the last step was a property that is a list.
    var isAtList = false
    /// Whether the values of a map were named.
    var isAtValues = false

    /// Whether the last step was a property that is a map.
    var isAtMap: Bool {
      switch path.end {
      case .mapValues: return true
      case .subject:
        if case .mapValues = path.hops.last { return true }
        return false
      default: return false
      }
    }

    /// Whether the walk has come to a mixed value, in which there may be others.
    var isMixed: Bool {
      guard path.type == .any, binding == nil else { return false }
      switch path.end {
      case .column, .nested, .inside, .element, .mapValue: return true
      case .mapValues: return isAtValues
      default: return false
      }
    }
  }

  /// The columns of a path; stops when there is no such property.
  mutating func resolvePath(
    _ path: PropertyPath, _ scope: PlanScope
  ) -> (path: PlanPath, className: String) {
    path.checkLength()
    if path.variable != scope.variable {
      misuse(
        .argument,
        "'\(path.text)' cannot be used here: conditions inside of SUBQUERY speak of its own "
          + "variable, all others of the object.")
    }
    var walk = Walk(binding: scope.binding, className: scope.name)
    walk.path.start = scope.binding.map { realm.position(of: $0) } ?? -1
    walk.path.type = scope.type
    walk.path.target = scope.binding.map { realm.position(of: $0) }
    var aggregate: PredicateAggregate?
    for (index, step) in path.steps.enumerated() {
      if case .aggregate(let found) = step {
        aggregate = found
        if walk.lastCollection == nil { stopForStep(path, index, walk) }
        continue
      }
      take(step, &walk, path, index)
    }
    guard let aggregate else { return (walk.path, walk.className) }
    return (fold(walk, aggregate, path), walk.className)
  }

  /// Goes one step on.
  private mutating func take(
    _ step: PathStep, _ walk: inout Walk, _ path: PropertyPath, _ index: Int
  ) {
    switch step {
    case .property(let name): takeProperty(name, &walk, path, index)
    case .key where walk.isMixed, .index where walk.isMixed, .last where walk.isMixed,
      .anyElement where walk.isMixed:
      switch walk.path.end {
      case .nested(let column, let steps):
        walk.path.end = .nested(column: column, steps + [step])
      case .column(let column): walk.path.end = .nested(column: column, [step])
      case .inside(let element, let steps): walk.path.end = .inside(element, steps + [step])
      case let element: walk.path.end = .inside(element, [step])
      }
    case .key(let key):
      // The map's property was the step before.
      let bytes = Array(key.utf8)
      if case .mapValues(let column) = walk.path.end {
        walk.path.end = .mapValue(column: column, key: bytes)
      } else if case .subject = walk.path.end,
        case .mapValues(let column, let target) = walk.path.hops.last
      {
        walk.path.hops[walk.path.hops.count - 1] = .mapValue(
          column: column, key: bytes, target: target)
      } else {
        misuse(.argument, "Invalid keypath '\(path.text)': only maps have values for keys.")
      }
      walk.lastCollection = nil
    case .mapKeys:
      if case .mapValues(let column) = walk.path.end {
        walk.path.end = .mapKeys(column: column)
      } else if case .subject = walk.path.end,
        case .mapValues(let column, _) = walk.path.hops.last
      {
        walk.path.hops.removeLast()
        walk.path.end = .mapKeys(column: column)
      } else {
        misuse(.argument, "Invalid keypath '\(path.text)': only maps have keys.")
      }
      walk.path.type = .string
      walk.path.target = nil
      walk.binding = nil
    case .mapValues:
      guard walk.isAtMap else {
        misuse(.argument, "Invalid keypath '\(path.text)': only maps have values.")
      }
      walk.isAtValues = true
    case .index(let position): takeElement(position, &walk, path)
    case .last: takeElement(nil, &walk, path)
    case .anyElement:
      misuse(.argument, "Invalid keypath '\(path.text)': only mixed values have any elements.")
    case .aggregate: break
    }
  }

  /// Goes to an element of the list whose property was the step before.
  private func takeElement(_ position: Int?, _ walk: inout Walk, _ path: PropertyPath) {
    if let position, position < 0 {
      misuse(.argument, "Cannot pass a negative value for 'index'.")
    }
    if walk.isAtList, case .elements(let column) = walk.path.end {
      walk.path.end = .element(column: column, position: position)
    } else if walk.isAtList, case .elements(let column, let target) = walk.path.hops.last {
      walk.path.hops[walk.path.hops.count - 1] = .element(
        column: column, position: position, target: target)
    } else {
      misuse(
        .argument,
        "Invalid keypath '\(path.text)': only lists and mixed values have elements by position.")
    }
    walk.isAtList = false
    walk.lastCollection = nil
  }

  private mutating func takeProperty(
    _ name: String, _ walk: inout Walk, _ path: PropertyPath, _ index: Int
  ) {
    guard let binding = walk.binding else { stopForStep(path, index, walk) }
    guard let position = binding.schema.index(ofProperty: name) else {
      misuse(
        .argument, "Property '\(name)' not found in object of type '\(binding.schema.name)'")
    }
    let property = binding.schema.properties[position]
    let codec = property.codec
    let column = binding.columns[position]
    walk.className = binding.schema.name
    walk.isAtList = codec.collection == .list
    walk.isAtValues = false
    walk.path.type = codec.type == .linkingObjects ? .object : codec.type
    if codec.collection != .none || codec.type == .linkingObjects {
      walk.lastCollection = walk.path.hops.count
      walk.owner = binding
    }
    guard let objectClass = codec.objectClass else {
      walk.binding = nil
      walk.path.target = nil
      switch codec.collection {
      case .none: walk.path.end = .column(column)
      case .list, .set: walk.path.end = .elements(column: column)
      case .map: walk.path.end = .mapValues(column: column)
      }
      return
    }
    let origin = codec.type == .linkingObjects ? realm.origin(of: property) : nil
    let targetBinding = origin?.binding ?? realm.target(objectClass, binding, column)
    let target = realm.position(of: targetBinding)
    tables.insert(target)
    walk.binding = targetBinding
    walk.path.target = target
    walk.path.end = .subject
    if let origin {
      walk.path.hops.append(
        .backlinks(column: origin.column, origin: target, target: binding.table!))
      return
    }
    switch codec.collection {
    case .none: walk.path.hops.append(.link(column: column, target: target))
    case .list, .set: walk.path.hops.append(.elements(column: column, target: target))
    case .map: walk.path.hops.append(.mapValues(column: column, target: target))
    }
  }

  private func stopForStep(_ path: PropertyPath, _ index: Int, _ walk: Walk) -> Never {
    var name = ""
    for step in path.steps[..<index] {
      if case .property(let property) = step { name = property }
    }
    misuse(
      .argument,
      "Invalid keypath '\(path.text)': Property '\(walk.className).\(name)' is not a link or "
        + "collection and can only appear at the end of a keypath.")
  }

  /// Turns what comes behind the last collection into one value.
  private func fold(
    _ walk: Walk, _ aggregate: PredicateAggregate, _ path: PropertyPath
  ) -> PlanPath {
    let place = walk.lastCollection!
    var values = walk.path
    values.hops = Array(walk.path.hops[place...])
    values.start = realm.position(of: walk.owner!)
    if aggregate != .count {
      let isNumeric = [.int, .float, .double, .decimal128, .any].contains(values.type)
      let isOrdered = isNumeric || values.type == .date
      if !(aggregate == .min || aggregate == .max ? isOrdered : isNumeric) {
        misuse(
          .argument,
          "Invalid keypath '\(path.text)': \(aggregate.rawValue) is not supported for type "
            + "'\(values.type)'.")
      }
    }
    let type: PropertyType
    switch aggregate {
    case .count: type = .int
    case .average: type = [.decimal128, .any].contains(values.type) ? .decimal128 : .double
    case .min, .max, .sum: type = values.type
    }
    var result = PlanPath(
      hops: Array(walk.path.hops[..<place]), end: .aggregate(aggregate, values), type: type)
    result.start = walk.path.start
    return result
  }
}

extension PropertyPath {
  /// The path as it is written.
  var text: String {
    var text = variable.map { "$" + $0 } ?? ""
    for step in steps {
      let dot = text.isEmpty ? "" : "."
      switch step {
      case .property(let name): text += dot + name
      case .key(let key): text += "['\(key)']"
      case .index(let index): text += "[\(index)]"
      case .last: text += "[LAST]"
      case .anyElement: text += "[*]"
      case .mapKeys: text += dot + "@allKeys"
      case .mapValues: text += dot + "@allValues"
      case .aggregate(let aggregate): text += dot + aggregate.rawValue
      }
    }
    return text.isEmpty ? "SELF" : text
  }
}
