// A short release benchmark of the engine through the public API, next to the raw limits of the
// same run. Prints one row a figure as CSV: name, unit, median, min, max, repetitions. Options:
// `--help`.
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

let options = Options.ofProcess()
let isQuick = options.isQuick
// Naming the rows measures nothing, but makes the objects that some are about.
let objectCount = options.namesRows ? 1_000 : isQuick ? 100_000 : 1_000_000
let repetitions = options.repetitions ?? (isQuick ? 3 : 5)
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
if let flag = CommandLine.arguments.firstIndex(of: "--space-child") {
  let arguments = CommandLine.arguments[(flag + 1)...].map { $0 }
  try runSpaceChild(path: arguments[0], mode: arguments[1])
  exit(0)
}
let folder = FileManager.default.temporaryDirectory
  .appendingPathComponent("realm-micro-\(processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

var report = Report(options)
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
try queryKernelRows(&report)
try constantRows(&report)
try indexRows(&report)
try scalingRows(&report)
try keyRows(&report)
try notificationRows(&report)
try observerRows(&report)
try manyObserverRows(&report)
try actorRows(&report)
try quickWriteRows(&report)
try growthRows(&report)
try spaceRows(&report)
try report.finish()
