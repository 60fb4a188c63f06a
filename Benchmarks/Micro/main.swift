// A short release benchmark of the engine through the public API, next to the raw limits of the same
// run. Prints one row a figure as CSV: name, unit, median, min, max, repetitions. `--quick` uses fewer
// objects and repetitions; `--repetitions N` uses others; `--row REGEX` measures only the rows of matching
// names; `--csv FILE` also writes the rows to a file.
import Foundation
import Platform
import RealmSwift
import Storage

/// The object of the figures: about 130 bytes of data.
final class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var payload: Data
}

let isQuick = CommandLine.arguments.contains("--quick")
let objectCount = isQuick ? 100_000 : 1_000_000
let repetitions =
  CommandLine.arguments.firstIndex(of: "--repetitions")
  .flatMap { Int(CommandLine.arguments[$0 + 1]) } ?? (isQuick ? 3 : 5)
if let flag = CommandLine.arguments.firstIndex(of: "--tight-child") {
  let arguments = CommandLine.arguments[(flag + 1)...].map { $0 }
  try runTightChild(path: arguments[0], group: arguments[1], count: Int(arguments[2])!)
  exit(0)
}
if let flag = CommandLine.arguments.firstIndex(of: "--crash-child") {
  let arguments = CommandLine.arguments[(flag + 1)...].map { $0 }
  try runCrashChild(path: arguments[0], isKilled: arguments[1] == "kill")
  exit(0)
}
let folder = FileManager.default.temporaryDirectory
  .appendingPathComponent("realm-micro-\(processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

var report = try Report()
try rawLimits(&report)
try snapshotSpike(&report)
try recordSpike(&report)
try processPinSpike(&report)
try threadRows(&report)
try frozenRows(&report)
try objectRows(&report)
try collectionRows(&report)
try ownerRows(&report)
try bulkChangeRows(&report)
try keyRows(&report)
try notificationRows(&report)
try observerRows(&report)
try actorRows(&report)
try growthRows(&report)
try report.finish()
