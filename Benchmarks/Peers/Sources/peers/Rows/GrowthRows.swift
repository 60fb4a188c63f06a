// Growth of the file while versions are kept, and whether it shrinks afterwards: 100,000 objects,
// small commits without syncs.
import Foundation

enum GrowthRows {
  static let objects = 100_000
  /// The same in the quick form: what a pin keeps depends on how many commits come until the next
  /// one.
  private static let commits = 20_000

  /// `growth-N-pins` and `commit-N-pins`: bytes that a commit adds to the file, and its median
  /// time; `file-over-visible-N-pins`: the file over what the kept versions see, for engines that
  /// tell.
  ///
  /// As many commits warm the file up. One pin is taken before those; more than one while commits
  /// are measured, evenly, and all are kept.
  static func pins(_ pins: Int, _ fixtures: Fixtures) -> Benchmark {
    let suffix = pins == 1 ? "1-pin" : "\(pins)-pins"
    let rows = [
      Row("growth-" + suffix, .bytesPerCommit), Row("commit-" + suffix, .nanoseconds),
      Row("file-over-visible-" + suffix, .ratio),
    ]
    // A pin of SQLite is a connection, with two open files; it drops out where they are not to be
    // had.
    let contestants = Contestant.engines(.memory).filter {
      $0.engine != .sqlite || descriptorLimit() > 2 * pins + 100
    }
    return Benchmark(rows, contestants, objects: objects) {
      contestant, repetition in
      let fixture = try fixtures.fresh(contestant, count: objects, pins: pins)
      var changes = Changes(seed: repetition)
      var held: [AnyObject] = []
      if pins == 1 { held.append(try fixture.session.pin()) }
      for _ in 0..<commits { try fixture.commit(changes.next(for: fixture)) }
      let before = try fixture.engine.fileBytes()
      var times: [UInt64] = []
      times.reserveCapacity(commits)
      for number in 0..<commits {
        if pins > 1, number % (commits / pins) == 0, held.count < pins {
          held.append(try fixture.session.pin())
        }
        let change = changes.next(for: fixture)
        let start = now()
        try fixture.commit(change)
        times.append(now() - start)
      }
      guard held.count == pins else { throw PeerError("\(held.count) pins, not \(pins)") }
      let after = try fixture.engine.fileBytes()
      var values = [rows[0].name: Double(after - before) / Double(commits)]
      values[rows[1].name] = percentile(0.5, of: times.sorted())
      if let visible = try fixture.engine.visibleBytes() {
        values[rows[2].name] = Double(after) / Double(visible)
      }
      held = []
      let checksum = try fixture.check()
      try fixture.remove()
      return Measurement(values: values, checksum: checksum)
    }
  }

  /// `shrink`: file over its live bytes when 100 pins have gone: 64 commits and the engine's idle
  /// work later.
  static func shrink(_ fixtures: Fixtures) -> Benchmark {
    return Benchmark([Row("shrink", .ratio)], Contestant.engines(.memory), objects: objects) {
      contestant, repetition in
      let fixture = try fixtures.fresh(contestant, count: objects, pins: 100, shrinks: true)
      var changes = Changes(seed: repetition)
      var held: [AnyObject] = []
      for number in 0..<commits {
        if number % (commits / 100) == 0 { held.append(try fixture.session.pin()) }
        try fixture.commit(changes.next(for: fixture))
      }
      held = []
      for _ in 0..<64 { try fixture.commit(changes.next(for: fixture)) }
      try fixture.session.settle()
      let ratio = try Double(fixture.engine.fileBytes()) / Double(fixture.engine.liveBytes())
      let checksum = try fixture.check()
      try fixture.remove()
      return Measurement(values: ["shrink": ratio], checksum: checksum)
    }
  }

  /// `shrink-deletes`: file over its live bytes when nine of ten objects were deleted, all but the
  /// first tenth, in transactions of 1,000: 64 commits and idle work later.
  static func shrinkAfterDeletes(_ fixtures: Fixtures) -> Benchmark {
    Benchmark([Row("shrink-deletes", .ratio)], Contestant.engines(.memory), objects: objects) {
      contestant, repetition in
      let fixture = try fixtures.fresh(contestant, count: objects, shrinks: true)
      for first in stride(from: objects / 10, to: objects, by: 1_000) {
        try fixture.session.delete(Array(first..<first + 1_000))
      }
      fixture.count = objects / 10
      var changes = Changes(seed: repetition)
      for _ in 0..<64 { try fixture.commit(changes.next(for: fixture)) }
      try fixture.session.settle()
      let ratio = try Double(fixture.engine.fileBytes()) / Double(fixture.engine.liveBytes())
      let checksum = try fixture.check()
      try fixture.remove()
      return Measurement(values: ["shrink-deletes": ratio], checksum: checksum)
    }
  }

}
