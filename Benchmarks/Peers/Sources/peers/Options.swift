// Command line of the tool.
import Foundation

/// What to run, and where results go.
struct Options {
  var isQuick = false
  var isScale = false
  var wantsHelp = false
  var rows: String?
  var engines: String?
  var repetitions: Int?
  var csv: String?
  var objects = 0
  /// Where the files of the engines are made: on the disk that is to be measured.
  var folder = FileManager.default.currentDirectoryPath

  static let usage = """
    usage: peers [--quick] [--scale] [--row REGEX] [--engine REGEX] [--repetitions N]
                 [--objects N] [--csv FILE] [--folder DIRECTORY]
      --quick        100,000 objects and 3 repetitions instead of 1,000,000 and 5
      --scale        the rows that could grow with the file, at 10,000, 1,000,000 and 10,000,000
                     objects (10,000 and 100,000 with --quick), 3 repetitions
      --row REGEX    only rows whose name matches as a whole
      --engine REGEX only ours, sqlite, lmdb or raw whose name matches as a whole
      --csv FILE     write the figures to FILE, and the table next to it, with suffix .md
      --folder DIR   make the files below DIR; the current folder unless given
    """

  /// Nil when the arguments cannot be used; says why.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    func refuse(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--scale": isScale = true
      case "--help": wantsHelp = true
      case "--row", "--engine", "--repetitions", "--objects", "--csv", "--folder":
        guard let value = rest.popFirst() else {
          refuse("\(argument) needs a value\n" + Self.usage)
          return nil
        }
        guard take(argument, value) else {
          refuse("\(argument) cannot be '\(value)'")
          return nil
        }
      default:
        refuse("unknown argument '\(argument)'\n" + Self.usage)
        return nil
      }
    }
    if isScale && objects != 0 {
      refuse("--scale has sizes of its own, so --objects cannot be given")
      return nil
    }
    if objects == 0 { objects = isQuick ? 100_000 : 1_000_000 }
  }

  private mutating func take(_ flag: String, _ value: String) -> Bool {
    switch flag {
    case "--row":
      rows = value
      return (try? Regex(value)) != nil
    case "--engine":
      engines = value
      return (try? Regex(value)) != nil
    case "--repetitions":
      repetitions = Int(value)
      return repetitions.map { (1...1_000).contains($0) } ?? false
    case "--objects":
      objects = Int(value) ?? 0
      return (1_000...50_000_000).contains(objects)
    case "--csv": csv = value
    default: folder = value
    }
    return !value.isEmpty
  }

  /// Sizes of a run with `--scale`.
  var sizes: [Int] { isQuick ? [10_000, 100_000] : [10_000, 1_000_000, 10_000_000] }

  /// Repetitions of each benchmark.
  var repetitionCount: Int { repetitions ?? (isQuick || isScale ? 3 : 5) }

  /// Whether a row was asked for.
  func includes(_ row: String) -> Bool { matches(row, rows) }

  /// Whether an engine was asked for.
  func includes(_ engine: EngineName) -> Bool { matches(engine.rawValue, engines) }

  private func matches(_ name: String, _ pattern: String?) -> Bool {
    guard let pattern, let regex = try? Regex(pattern) else { return true }
    return name.wholeMatch(of: regex) != nil
  }
}
