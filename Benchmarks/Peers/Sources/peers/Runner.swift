// Runs benchmarks: contestants take turns within a repetition, in an order that rotates, and each
// has to come to the same checksum.
import Foundation

struct Runner {
  let options: Options

  /// Runs the benchmarks whose rows were asked for; one that fails is told and left out.
  ///
  /// - Returns: whether all went well.
  func run(_ benchmarks: (Fixtures) -> [Benchmark], into results: inout Results) throws -> Bool {
    let fixtures = Fixtures(options)
    var isGood = true
    for benchmark in benchmarks(fixtures) {
      let rows = benchmark.rows.filter { options.includes($0.name) }
      guard !rows.isEmpty else { continue }
      let names = rows.map(\.name).joined(separator: ", ")
      let start = now()
      do {
        let measurements = try measure(benchmark)
        results.add(
          rows, benchmark.contestants, objects: benchmark.objects ?? options.objects, measurements)
        report("\(names): \((now() - start) / 1_000_000_000) s")
      } catch {
        report("\(names): FAILED: \(error)")
        isGood = false
        // Its files may be closed, or not be what the model says.
        fixtures.forgetAll()
      }
    }
    try fixtures.removeAll()
    return isGood
  }

  private func measure(_ benchmark: Benchmark) throws -> [[Contestant: Measurement]] {
    var measurements: [[Contestant: Measurement]] = []
    let contestants = benchmark.contestants.filter { options.includes($0.engine) }
    guard !contestants.isEmpty else { return [] }
    for repetition in -benchmark.warmUps..<options.repetitionCount {
      let count = contestants.count
      let order = (0..<count).map { contestants[($0 + repetition + count) % count] }
      let measured = try benchmark.run(order, repetition + 1)
      try compareChecksums(measured, benchmark)
      if repetition >= 0 { measurements.append(measured) }
    }
    return measurements
  }

  private func compareChecksums(
    _ measured: [Contestant: Measurement], _ benchmark: Benchmark
  ) throws {
    let checksums = Set(measured.values.compactMap(\.checksum))
    guard checksums.count > 1 else { return }
    let all = measured.map { "\($0.engine.rawValue) \(String(describing: $1.checksum))" }
    throw PeerError("\(benchmark.rows[0].name): different checksums: \(all)")
  }
}

/// Tells what is going on, without touching what goes to files or stdout.
func report(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
