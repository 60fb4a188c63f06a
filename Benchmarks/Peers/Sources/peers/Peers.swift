// One run from arguments to files.
import CLMDB
import CSQLite
import Foundation
import Glibc

enum Peers {
  /// Runs and returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    if let code = Inspection.runIfAsked(arguments) { return code }
    guard var options = Options(arguments) else { return 64 }
    if options.wantsHelp {
      print(Options.usage)
      return 0
    }
    let folder = options.folder + "/peers-\(ProcessInfo.processInfo.processIdentifier)"
    options.folder = folder
    raiseDescriptorLimit()
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      var results = Results()
      var isGood = true
      if options.isScale {
        for size in options.sizes {
          options.objects = size
          report("\(size) objects")
          isGood = try Runner(options: options).run(AllRows.scale, into: &results) && isGood
        }
      } else {
        isGood = try Runner(options: options).run(AllRows.benchmarks, into: &results)
      }
      let facts = facts(arguments)
      let table = options.isScale ? results.scaleTable(facts) : results.markdown(facts)
      if let csv = options.csv {
        try results.csv.write(toFile: csv, atomically: true, encoding: .utf8)
        let path = URL(fileURLWithPath: csv).deletingPathExtension().path + ".md"
        try table.write(toFile: path, atomically: true, encoding: .utf8)
      }
      print(table)
      return isGood ? 0 : 1
    } catch {
      report("peers: \(error)")
      return 1
    }
  }

  /// What a reader needs to know about a run; the script adds what only it knows.
  private static func facts(_ arguments: [String]) -> [String] {
    let environment = ProcessInfo.processInfo.environment
    let command = environment["PEERS_COMMAND"] ?? "peers " + arguments.joined(separator: " ")
    var system = utsname()
    uname(&system)
    let kernel = withUnsafeBytes(of: &system.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let cpu =
      (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
      .first { $0.hasPrefix("model name") }?.split(separator: ":").last
      .map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown CPU"
    let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    #if Jemalloc
      let allocator = "jemalloc"
    #else
      let allocator = "malloc of the system"
    #endif
    return [
      "command: `\(command)`",
      "commit: \(environment["PEERS_COMMIT"] ?? "unknown")",
      "date: \(Date().formatted(.iso8601))",
      "machine: \(cpu), \(ProcessInfo.processInfo.activeProcessorCount) cores, Linux \(kernel); "
        + "load at the end \(load.split(separator: " ").first ?? "unknown")",
      "SQLite \(String(cString: sqlite3_libversion())), LMDB "
        + "\(String(cString: mdb_version(nil, nil, nil)).split(separator: " ")[1].dropLast()), "
        + "\(allocator) for all",
    ]
  }
}
