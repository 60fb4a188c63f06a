// What the command line asks for. All of it is read before anything is measured.
import Foundation

/// The options of a run.
struct Options {
  var isQuick = false
  var repetitions: Int?
  /// The rows to measure; nil for all.
  var rows: Regex<AnyRegexOutput>?
  var csvPath: String?
  /// Whether to print the help with the names of all rows, and to measure none.
  var namesRows = false

  static let help = """
    Measures the engine through its public API, next to the raw limits of the machine. Prints one row a
    figure as CSV: name, unit, median, min, max, repetitions.

      swift run -c release Micro --quick --row 'commit|open'

    Options:
      --quick          fewer objects and repetitions
      --repetitions N  so many samples a row
      --row REGEX      only the rows whose names match
      --csv FILE       write the rows to a file too
      --help           this text, and the names of all rows
    """

  private struct Refusal: Error {
    let reason: String
  }

  /// The options of this process, which ends with exit code 64 when they are none.
  static func ofProcess() -> Options {
    let arguments = CommandLine.arguments.dropFirst()
    // Processes that a row starts have arguments of their own.
    if let first = arguments.first,
      ["--tight-child", "--crash-child", "--space-child"].contains(first)
    {
      return Options()
    }
    do {
      return try Options(Array(arguments))
    } catch {
      let reason = (error as? Refusal)?.reason ?? "\(error)"
      FileHandle.standardError.write(Data("\(reason) `Micro --help` names all options.\n".utf8))
      exit(64)
    }
  }

  init() {}

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Refusal(reason: "\(option) needs a value.") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--help", "-h": namesRows = true
      case "--csv": csvPath = try value(of: option)
      case "--repetitions":
        let text = try value(of: option)
        guard let number = Int(text), number > 0 else {
          throw Refusal(reason: "--repetitions needs a number above 0, not '\(text)'.")
        }
        repetitions = number
      case "--row":
        let text = try value(of: option)
        do { rows = try Regex(text) } catch {
          throw Refusal(reason: "--row needs a regular expression, not '\(text)'.")
        }
      default: throw Refusal(reason: "Unknown option '\(option)'.")
      }
    }
  }
}
