// What encryption costs: ours with a key against ours without, in one measurement.
// SQLite has no encryption of its own.
import Foundation
import RealmSwift

enum EncryptionRows {
  private static let rows = [
    Row("encrypted-commit", .ratio), Row("encrypted-commit-bytes", .ratio),
    Row("encrypted-bulk", .ratio), Row("encrypted-file", .ratio),
    Row("encrypted-first-scan", .nanoseconds), Row("encrypted-first-sum", .nanoseconds),
  ]

  /// Small durable commits, written bytes and the file in relation to those of a plain file; the
  /// rate of a bulk insert likewise; going through all objects, or summing a property, in a file
  /// that was just opened.
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
          "encrypted-first-sum": sealed.sum / Double(count),
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
    var sum = 0.0
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
    figures.scan = try time(configuration) { $0.reduce(0) { $0 &+ $1.age } }
    try waitUntilClosed(path)
    figures.sum = try time(configuration) { $0.sum(of: \.age) }
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

  /// Nanoseconds that something takes with all objects of a file that was just opened.
  private static func time(
    _ configuration: Realm.Configuration, _ body: (RealmSwift.Results<Person>) -> Int
  ) throws -> Double {
    let people = try Realm(configuration: configuration).objects(Person.self)
    let start = now()
    let sum = body(people)
    let time = Double(now() - start)
    guard sum > 0 else { throw PeerError("no object was read") }
    return time
  }

  /// Bytes that the process has given to write calls.
  private static func writtenBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    guard let line, let bytes = Int(line.dropFirst(7)) else { throw PeerError("/proc/self/io") }
    return bytes
  }
}
