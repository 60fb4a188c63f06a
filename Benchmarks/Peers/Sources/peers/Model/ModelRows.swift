// The rows of the object model: each step of one scenario is a row. A repetition makes new files
// and goes through all steps, so that every engine has the same content at each.
import Foundation

enum ModelRows {
  private struct Step {
    let row: Row
    /// What the time is divided by; for rates, what is divided by the time.
    let operations: Int
    /// The same, where engines do not do as many.
    var operationsOfDriver: ((any ModelDriver) -> Int)?
    /// Not part of the time.
    var prepare: (any ModelDriver) throws -> Void = { _ in }
    /// Returns a checksum.
    let run: (any ModelDriver) throws -> Int
    /// Not part of the time either; returns a checksum too.
    var check: (any ModelDriver) throws -> Int = { _ in 0 }
  }

  static func scenario(_ fixtures: Fixtures) -> Benchmark {
    let options = fixtures.options
    let size = ModelSize(children: options.objects, elements: options.objects)
    let steps =
      links(size) + list(size) + keys(size) + removal(fixtures, size)
    return Benchmark(
      steps.map(\.row), [Contestant(.ours, .full), Contestant(.sqlite, .full)]
    ) { contestant, repetition in
      let folder = fixtures.path("model-\(contestant.engine.rawValue)-\(repetition)")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let driver: any ModelDriver =
        contestant.engine == .ours
        ? try RealmModel(folder: folder, size: size) : try SQLiteModel(folder: folder, size: size)
      var values: [String: Double] = [:]
      var checksum = 0
      for step in steps {
        try step.prepare(driver)
        let start = now()
        let result = try step.run(driver)
        let time = Double(now() - start)
        checksum = checksum &* 31 &+ result
        checksum = checksum &* 31 &+ (try step.check(driver))
        let operations = Double(step.operationsOfDriver?(driver) ?? step.operations)
        values[step.row.name] =
          step.row.unit == .perSecond ? operations * 1e9 / time : time / operations
      }
      return Measurement(values: values, checksum: checksum)
    }
  }

  private static func links(_ size: ModelSize) -> [Step] {
    let calls = 100_000
    let children = randomKeys(calls, below: size.children, seed: 21)
    let owners = randomKeys(calls / 10, below: size.owners, seed: 22)
    return [
      Step(
        row: Row("owners-insert", .perSecond), operations: size.owners + size.children
      ) {
        try $0.insertOwners()
        return 0
      },
      Step(
        row: Row("link-hop", .nanoseconds), operations: calls,
        prepare: { try $0.hold(children: children, owners: owners) }
      ) { try $0.followLinks() },
      Step(row: Row("backlinks-of-10", .nanoseconds), operations: owners.count) {
        try $0.readBacklinks()
      },
      Step(
        row: Row("list-of-links", .nanoseconds),
        operations: owners.count * ModelSize.childrenOfOwner
      ) { try $0.readLists() },
    ]
  }

  private static func list(_ size: ModelSize) -> [Step] {
    let values = (0..<size.elements).map(ModelContent.value)
    let few = Array(values.prefix(100_000))
    let positions = randomKeys(100_000, below: size.elements, seed: 23)
    return [
      Step(row: Row("list-append-bulk", .perSecond), operations: values.count) {
        try $0.appendBulk(values)
        return 0
      },
      Step(row: Row("list-append-one", .nanoseconds), operations: few.count) {
        try $0.appendEach(few)
        return 0
      },
      Step(
        row: Row("list-in-order", .nanoseconds), operations: values.count + few.count
      ) { try $0.sumInOrder() },
      Step(row: Row("list-random-index", .nanoseconds), operations: positions.count) {
        try $0.sumAt(positions)
      },
      Step(
        row: Row("list-insert-in-middle", .nanoseconds), operations: 0,
        operationsOfDriver: { min($0.middleInserts, values.count) },
        run: {
          try $0.insertInMiddle(Array(values.prefix($0.middleInserts)))
          return 0
        },
        check: {
          let inserted = values.prefix($0.middleInserts)
          let sum = try $0.sumInOrder() - inserted.reduce(0, +)
          try $0.removeFromMiddle(inserted.count)
          guard try $0.sumInOrder() == sum else { throw PeerError("wrong elements were removed") }
          return sum
        }),
    ]
  }

  private static func keys(_ size: ModelSize) -> [Step] {
    let count = size.elements
    let random = randomKeys(100_000, below: count, seed: 24)
    let mapCount = min(count, 100_000)
    let mapKeys = random.map { ModelContent.mapKey($0 % mapCount) }
    let elements = (0..<count).map(ModelContent.value)
    let texts = (0..<count).map(ModelContent.textKey)
    let identifiers = (0..<count).map(ModelContent.identifier)
    // Made anew, as by a client that looks something up: not strings from all over the memory.
    let randomTexts = random.map(ModelContent.textKey)
    let randomIdentifiers = random.map(ModelContent.identifier)
    return [
      Step(row: Row("map-insert", .nanoseconds), operations: mapCount) {
        try $0.insertMap(mapCount)
        return 0
      },
      Step(row: Row("map-lookup", .nanoseconds), operations: mapKeys.count) {
        try $0.lookUpMap(mapKeys)
      },
      Step(
        row: Row("set-contains", .nanoseconds), operations: random.count,
        prepare: { try $0.insertSet(elements) }
      ) { try $0.countInSet(random) },
      Step(row: Row("text-key-insert", .nanoseconds), operations: count) {
        try $0.insertTextKeys(texts)
        return 0
      },
      Step(row: Row("text-key-lookup", .nanoseconds), operations: random.count) {
        try $0.lookUpTextKeys(randomTexts)
      },
      Step(
        row: Row("uuid-lookup", .nanoseconds), operations: random.count,
        prepare: { try $0.insertIdentifiers(identifiers) }
      ) { try $0.lookUpIdentifiers(randomIdentifiers) },
    ]
  }

  private static func removal(_ fixtures: Fixtures, _ size: ModelSize) -> [Step] {
    // A tenth, scattered: every tenth child.
    let scattered = stride(from: 0, to: size.children, by: 10).map { $0 }
    return [
      Step(
        row: Row("copy", .nanoseconds), operations: 1, prepare: { $0.release() }
      ) { driver in
        let path = fixtures.path("model-copy")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try driver.writeCopy(to: path)
        return 0
      },
      Step(row: Row("delete-scattered-linked", .nanoseconds), operations: scattered.count) {
        try $0.deleteChildren(scattered)
        return try $0.childCount()
      },
      Step(row: Row("delete-all-linked", .nanoseconds), operations: 1) {
        try $0.deleteAllChildren()
        return try $0.childCount()
      },
    ]
  }
}
