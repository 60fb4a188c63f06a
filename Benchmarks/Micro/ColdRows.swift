// Figures of a file that is not in memory: nothing of it, or less than all of it can be.
import Foundation
import Glibc
import Platform
import RealmSwift

/// `open-cold`, `lookup-cold`, `lookup-tight`; the file holds `objectCount` objects and nobody has
/// it open.
func coldRows(_ settings: Realm.Configuration, _ report: inout Report) throws {
  try coldRow(settings, &report)
  try tightRow(settings, &report)
}

/// Opens the file when nothing of it is in memory and looks one object up; then others, one by one.
private func coldRow(_ settings: Realm.Configuration, _ report: inout Report) throws {
  guard report.wants("open-cold") || report.wants("lookup-cold") else { return }
  let lookups = 200
  let clock = MonotonicClock()
  var random = RandomGenerator(seed: 7)
  var openTimes: [Double] = []
  var lookupTimes: [Double] = []
  for _ in 0..<repetitions {
    try dropFromMemory(settings.fileURL!.path)
    let start = clock.nanoseconds()
    let realm = try Realm(configuration: settings)
    readRandomObject(realm, &random)
    let opened = clock.nanoseconds()
    for _ in 0..<lookups { readRandomObject(realm, &random) }
    openTimes.append(Double(opened - start))
    lookupTimes.append(Double(clock.nanoseconds() - opened) / Double(lookups))
    realm.invalidate()
  }
  report.add("open-cold", unit: "ns", openTimes)
  report.add("lookup-cold", unit: "ns", lookupTimes)
}

private func readRandomObject(_ realm: Realm, _ random: inout RandomGenerator) {
  let id = Int(random.next() % UInt64(objectCount))
  let person = realm.object(ofType: Person.self, forPrimaryKey: id)!
  precondition(person.age >= 0 && person.payload.count == 100)
}

/// Drops a closed file from the page cache.
private func dropFromMemory(_ path: String) throws {
  // What is mapped stays in memory.
  Spares.drop()
  let descriptor = open(path, O_RDONLY)
  guard descriptor >= 0 else { throw POSIXError(.ENOENT) }
  defer { close(descriptor) }
  fsync(descriptor)
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
}

// MARK: - Less memory than the file needs

/// Random objects read whole by a process that may have only half as much memory as the file is
/// long.
///
/// The page cache counts. Left out where this process may not limit another.
private func tightRow(_ settings: Realm.Configuration, _ report: inout Report) throws {
  guard report.wants("lookup-tight") else { return }
  let path = settings.fileURL!.path
  let bytes = try Data(contentsOf: settings.fileURL!, options: .alwaysMapped).count
  guard let group = MemoryGroup(limit: max(bytes / 2, 48 << 20)) else {
    return complain("lookup-tight is left out: no memory group can be made here")
  }
  defer { group.remove() }
  var times: [Double] = []
  for _ in 0..<min(repetitions, 3) {
    try dropFromMemory(path)
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    child.arguments = ["--tight-child", path, group.processesPath, "\(objectCount)"]
    let output = Pipe()
    child.standardOutput = output
    try child.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    guard child.terminationStatus == 0, let time = Double(String(decoding: text, as: UTF8.self))
    else { return complain("lookup-tight is left out: the child failed") }
    times.append(time)
  }
  report.add("lookup-tight", unit: "ns", times)
}

private func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// The child of `lookup-tight`: joins the group, reads for two seconds after a warm-up, prints ns a
/// look-up.
func runTightChild(path: String, group: String, count: Int) throws {
  try "\(processIdentifier)".write(toFile: group, atomically: false, encoding: .utf8)
  let settings = Realm.Configuration(
    fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
  let realm = try Realm(configuration: settings)
  let clock = MonotonicClock()
  var random = RandomGenerator(seed: 8)
  var lookups = 0
  var start = clock.nanoseconds()
  var isWarm = false
  while true {
    let person = realm.object(
      ofType: Person.self, forPrimaryKey: Int(random.next() % UInt64(count)))!
    precondition(person.age >= 0 && person.payload.count == 100)
    lookups += 1
    let passed = clock.nanoseconds() - start
    if passed < 2_000_000_000 { continue }
    if isWarm {
      print(Double(passed) / Double(lookups), terminator: "")
      return
    }
    (isWarm, lookups, start) = (true, 0, clock.nanoseconds())
  }
}

/// A control group of this benchmark's own, whose processes share a limit of memory.
private struct MemoryGroup {
  private let folder: String
  var processesPath: String { folder + "/cgroup.procs" }

  /// Nil where none can be made.
  init?(limit: Int) {
    for (root, file) in [
      ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"),
    ] {
      let folder = root + "/realm-micro-\(processIdentifier)"
      guard mkdir(folder, 0o755) == 0 else { continue }
      if (try? "\(limit)".write(toFile: folder + "/" + file, atomically: false, encoding: .utf8))
        != nil
      {
        self.folder = folder
        return
      }
      rmdir(folder)
    }
    return nil
  }

  func remove() { rmdir(folder) }
}
