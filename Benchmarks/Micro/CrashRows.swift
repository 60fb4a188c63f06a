// What a killed writer costs the next one to open its file.
import Foundation
import Glibc
import Platform
import RealmSwift

/// Measures the first opening, with one look-up and without closing, after another process has
/// written.
///
/// `open-after-crash`: that one was killed after its commits; `open-after-exit`: it has closed the
/// file.
func crashRows(_ settings: Realm.Configuration, _ report: inout Report) throws {
  for (name, isKilled) in [("open-after-exit", false), ("open-after-crash", true)] {
    guard report.wants(name) else { continue }
    let clock = MonotonicClock()
    var times: [Double] = []
    for _ in 0..<(isQuick ? 5 : 21) {
      try runWriter(settings.fileURL!.path, isKilled: isKilled)
      let start = clock.nanoseconds()
      let realm = try Realm(configuration: settings)
      precondition(realm.object(ofType: Person.self, forPrimaryKey: 7)!.age >= 0)
      times.append(Double(clock.nanoseconds() - start))
      realm.invalidate()
    }
    report.add(name, unit: "ns", times)
  }
}

private func runWriter(_ path: String, isKilled: Bool) throws {
  let child = Process()
  child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  child.arguments = ["--crash-child", path, isKilled ? "kill" : "exit"]
  try child.run()
  child.waitUntilExit()
  let isAsWanted =
    isKilled
    ? child.terminationReason == .uncaughtSignal : child.terminationStatus == 0
  precondition(isAsWanted, "the writer ended with \(child.terminationStatus)")
}

/// The child of these rows: some durable commits, then its end.
func runCrashChild(path: String, isKilled: Bool) throws {
  let settings = Realm.Configuration(
    fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
  let realm = try Realm(configuration: settings)
  for call in 0..<20 {
    try realm.write { realm.object(ofType: Person.self, forPrimaryKey: call * 37)!.age = call }
  }
  if isKilled { kill(getpid(), SIGKILL) }
}
