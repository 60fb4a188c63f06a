// What objects of a file are like: how many, how large their values are, how many are missing. For
// workloads that should resemble an application's data. Only sizes and counts leave the file, never
// a value.
internal import Foundation
internal import RealmSwift

/// The shape of a file's classes.
package struct FileProfile: Codable, Sendable {
  /// Sizes or lengths of the values of a property.
  package struct Spread: Codable, Equatable, Sendable {
    package var count: Int
    package var missing: Int
    package var minimum: Int?
    package var p50: Int?
    package var p90: Int?
    package var p99: Int?
    package var maximum: Int?

    init(_ sizes: [Int], missing: Int) {
      let sorted = sizes.sorted()
      func value(_ percent: Int) -> Int? {
        sorted.isEmpty ? nil : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
      }
      count = sizes.count
      self.missing = missing
      minimum = sorted.first
      (p50, p90, p99) = (value(50), value(90), value(99))
      maximum = sorted.last
    }
  }

  package struct PropertyProfile: Codable, Sendable {
    package var name: String
    package var type: String
    /// Of texts and data in bytes, of collections in elements; nil for other values.
    package var sizes: Spread?
  }

  /// The primary keys of a class.
  package struct KeyProfile: Codable, Sendable {
    package var name: String
    package var type: String
    /// Of whole numbers: objects for each number from the least key to the greatest.
    ///
    /// 1 without gaps.
    package var density: Double?
  }

  package struct ClassProfile: Codable, Sendable {
    package var name: String
    /// Nil of a class without a primary key.
    package var primaryKey: KeyProfile?
    package var objects: Int
    /// How many of them were looked at, evenly spread.
    package var sampled: Int
    package var properties: [PropertyProfile]
    /// A run of about the same number and size of objects.
    package var command: String?
  }

  package var path: String
  package var version: UInt64
  package var classes: [ClassProfile]

  /// Looks at a file, which may be in use.
  ///
  /// - Parameters:
  ///   - key: of an encrypted file.
  ///   - samplesMax: objects of a class that are looked at.
  package init(path: String, key: [UInt8]? = nil, samplesMax: Int = 10_000) throws {
    let description = try FileInspection.describe(path, key: key)
    let realm = try Realm.opened(asStored: path, encryptionKey: key)
    self.path = path
    version = realm.currentVersion
    classes = description.tables.map { table in
      let objects = realm.dynamicObjects(table.name)
      let step = max(1, (objects.count + samplesMax - 1) / samplesMax)
      let sampled = stride(from: 0, to: objects.count, by: step).map { objects[$0] }
      let properties = table.columns.map { column in
        PropertyProfile(
          name: column.name, type: column.type,
          sizes: Self.sizes(of: column, in: sampled))
      }
      return ClassProfile(
        name: table.name, primaryKey: Self.keys(of: table, in: objects), objects: objects.count,
        sampled: sampled.count, properties: properties,
        command: Self.command(objects.count, properties))
    }
  }

  private static func keys(
    of table: FileDescription.TableRecord, in objects: Results<DynamicObject>
  ) -> KeyProfile? {
    guard let name = table.primaryKey,
      let column = table.columns.first(where: { $0.name == name })
    else { return nil }
    var profile = KeyProfile(name: name, type: column.type)
    if column.type == "int", let least: Int = objects.min(ofProperty: name),
      let greatest: Int = objects.max(ofProperty: name)
    {
      profile.density = Double(objects.count) / (Double(greatest) - Double(least) + 1)
    }
    return profile
  }

  private static func sizes(
    of column: FileDescription.ColumnRecord, in objects: [DynamicObject]
  ) -> Spread? {
    var sizes: [Int] = []
    var missing = 0
    var isSized = false
    for object in objects {
      switch object[column.name] {
      case let text as String: sizes.append(text.utf8.count)
      case let data as Data: sizes.append(data.count)
      case let collection as any RealmCollection: sizes.append(collection.count)
      case nil:
        missing += 1
        continue
      default: continue
      }
      isSized = true
    }
    return isSized || (missing > 0 && column.isOptional) ? Spread(sizes, missing: missing) : nil
  }

  /// Texts and data of an object together are what the harness's payload stands for.
  private static func command(_ objects: Int, _ properties: [PropertyProfile]) -> String? {
    guard objects > 0 else { return nil }
    let sizes = properties.filter { ["string", "data"].contains($0.type) }.compactMap(\.sizes)
    // Exact for one property; of several, objects that are large in one are taken to be so in all.
    func sum(_ part: KeyPath<Spread, Int?>) -> Int {
      min(ValueSize.most, sizes.reduce(0) { $0 + ($1[keyPath: part] ?? 0) })
    }
    let size = ValueSize(
      percentiles: [\.minimum, \.p50, \.p90, \.p99, \.maximum].map { sum($0) })
    return "\(Tool.current.name) run readers-writer --objects \(objects) "
      + "--value-size \(Units.text(size))"
  }
}
