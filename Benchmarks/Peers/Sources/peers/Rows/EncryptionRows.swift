// What encryption costs: ours with a key against ours without, in one measurement.
// SQLite has no encryption of its own.
import Foundation
import RealmSwift

enum EncryptionRows {
  private static let rows = [
    Row("encrypted-commit", .ratio), Row("encrypted-commit-bytes", .ratio),
    Row("encrypted-bulk", .ratio), Row("encrypted-file", .ratio),
    Row("encrypted-first-scan", .nanoseconds),
  ]

  /// Small durable commits, written bytes and the file in relation to those of a plain file; the rate of a
  /// bulk insert likewise; the first scan of a file that was just opened, an object.
  static func all(_ fixtures: Fixtures) -> Benchmark {
    let count = fixtures.options.objects
    return Benchmark(rows, [Contestant(.ours, .full)]) { _, repetition in
      let population = fixtures.population(count)
      let plain = try figures(fixtures.path("plain-\(repetition).realm"), nil, population)
      let key = Data((0..<64).map { UInt8($0 * 3) })
      let sealed = try figures(fixtures.path("sealed-\(repetition).realm"), key, population)
      return Measurement(
        values: [
          "encrypted-commit": sealed.commit / plain.commit,
          "encrypted-commit-bytes": sealed.commitBytes / plain.commitBytes,
          "encrypted-bulk": plain.bulk / sealed.bulk,
          "encrypted-file": sealed.file / plain.file,
          "encrypted-first-scan": sealed.scan / Double(count),
        ], checksum: nil)
    }
  }

  private struct Figures {
    /// Nanoseconds.
    var bulk = 0.0
    var commit = 0.0
    var commitBytes = 0.0
    var file = 0.0
    var scan = 0.0
  }

  private static func figures(_ path: String, _ key: Data?, _ population: Population) throws
    -> Figures
  {
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), encryptionKey: key, objectTypes: [Person.self])
    defer { _ = try? Realm.deleteFiles(for: configuration) }
    var figures = Figures()
    try write(configuration, population, &figures)
    try waitUntilClosed(path)
    figures.file = Double(try sizeOfFile(path))
    try scan(configuration, population, &figures)
    return figures
  }

  private static func write(
    _ configuration: Realm.Configuration, _ population: Population, _ figures: inout Figures
  ) throws {
    let realm = try Realm(configuration: configuration)
    let people = (0..<population.count).map { id in
      let person = Person()
      person.id = id
      person.name = String(decoding: population.name(id), as: UTF8.self)
      person.age = Population.age(id)
      person.score = Population.score(id)
      person.payload = Data(population.payload(id))
      return person
    }
    let start = now()
    try realm.write { realm.add(people) }
    figures.bulk = Double(now() - start)
    let commits = 200
    let keys = randomKeys(commits, below: population.count, seed: 31)
    let bytes = try writtenBytes()
    var times: [UInt64] = []
    for (number, key) in keys.enumerated() {
      let person = realm.object(ofType: Person.self, forPrimaryKey: key)!
      let start = now()
      try realm.write { person.age = number % 100 }
      times.append(now() - start)
    }
    times.sort()
    figures.commit = Double(times[commits / 2])
    figures.commitBytes = Double(try writtenBytes() - bytes)
  }

  private static func scan(
    _ configuration: Realm.Configuration, _ population: Population, _ figures: inout Figures
  ) throws {
    let realm = try Realm(configuration: configuration)
    let start = now()
    let sum = realm.objects(Person.self).reduce(0) { $0 &+ $1.age }
    figures.scan = Double(now() - start)
    guard sum > 0 else { throw PeerError("no object was read") }
  }

  /// Bytes that the process has given to write calls.
  private static func writtenBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    guard let line, let bytes = Int(line.dropFirst(7)) else { throw PeerError("/proc/self/io") }
    return bytes
  }
}
