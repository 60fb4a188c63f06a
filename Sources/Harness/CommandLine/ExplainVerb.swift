// `realm-bench explain`: how a query on a file is answered, and what it takes.
internal import Foundation
internal import Platform
internal import RealmSwift

/// The verb `explain`.
package enum ExplainVerb: VerbDescription {
  package static let name = "explain"
  package static let arguments = "FILE.realm CLASS PREDICATE"
  package static let summary = "how a query is answered: index or scan, rows, time"
  package static let usage = """
    realm-bench explain FILE.realm CLASS PREDICATE [flags]

    The way of a query on a file, which may be in use: the index, links or scan that were chosen and
    what each would cost, what is asked of each object, how many were looked at and found, and the
    time of each step. PREDICATE is text as 'filter' takes it; TRUEPREDICATE means all objects. The
    query runs --repetitions times, and the shortest times are shown. An encrypted file needs
    --encryption-key.

      realm-bench explain app.realm Person "age > 30 AND name BEGINSWITH 'A'" --sort age

    Exit codes: 0 explained, 1 the file cannot be opened or is damaged, 64 no such class, or a
    predicate that is not understood.
    """

  package static let flags: [FlagDefinition] = [
    .init(
      "sort", "KEYPATH", isRepeatable: true, "order the results by this; a leading '-' descends"),
    .init("repetitions", "N", "how often the query runs (3)"),
    EncryptionKeyFile.flag,
    .init("format", "text|json|markdown", "form of the result (text)"),
    .init("help", nil, "show this"),
  ]

  /// What is told of a query.
  package struct Explained: Codable, Sendable {
    package var path: String
    package var version: UInt64
    package var className: String
    package var predicate: String
    package var sort: [String]
    /// The way in words; the wording may change.
    package var steps: [String]
    /// Nil where nothing had to be searched.
    package var found: Int?
    package var lookedAt: Int?
    package var planNs: UInt64?
    package var searchNs: UInt64?
    /// All results in their order, the first one read.
    package var resultNs: UInt64
    package var repetitions: Int
  }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    // A query that is not understood stops the process, as damaged bytes do.
    try EndingStops.during(name, console) { try run(arguments, console: console) }
  }

  /// Stops where the predicate or a key path is not understood.
  package static func run(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(dashedSorts(arguments), known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let format: OutputFormat = try values.choice("format") ?? .text
    guard values.positional.count == 3 else {
      throw UsageError(
        "explain needs three arguments: FILE.realm CLASS PREDICATE"
          + (values.positional.count > 3 ? "; put the predicate into quotes" : ""))
    }
    var repetitions = 3
    if let text = values.first("repetitions") {
      repetitions = try Units.count(text, flag: "--repetitions", minimum: 1, maximum: 1_000_000)
    }
    let path = try RealmFilePath.one(
      try LiteralPath.path(values.positional[0], of: "explain"), verb: "explain")
    let key = try EncryptionKeyFile.key(of: values)
    let realm: Realm
    do {
      realm = try Realm.opened(asStored: path, encryptionKey: key)
    } catch {
      console.note("error: cannot open '\(path)': \(error.explanation)")
      return .failed
    }
    let name = values.positional[1]
    let names = realm.storedClassNames
    guard names.contains(name) else {
      let nearest = nearestName(name, in: names).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "explain: '\(path)' has no class '\(name)' "
          + (names.isEmpty ? "(it has none)" : "(\(names.joined(separator: ", ")))") + nearest)
    }
    let explained = try explain(
      realm, path, name, values.positional[2], sort: values.all("sort"), repetitions: repetitions)
    switch format {
    case .json: console.printRaw(try encodeJSON(explained))
    case .text: console.printRaw(text(explained))
    case .markdown: console.printRaw(markdown(explained))
    }
    return .success
  }

  /// `--sort -age` as `--sort=-age`: a value with a dash is no flag here.
  private static func dashedSorts(_ arguments: [String]) -> [String] {
    var words: [String] = []
    for word in arguments {
      if words.last == "--sort", word.hasPrefix("-"), !word.hasPrefix("--") {
        words[words.count - 1] = "--sort=" + word
      } else {
        words.append(word)
      }
    }
    return words
  }

  private static func explain(
    _ realm: Realm, _ path: String, _ name: String, _ predicate: String, sort: [String],
    repetitions: Int
  ) throws -> Explained {
    let clock = MonotonicClock()
    var best: Explained?
    for _ in 0..<repetitions {
      // Made anew each time: results remember what they have found.
      func results() -> Results<DynamicObject> {
        var results = realm.dynamicObjects(name).filter(predicate)
        guard !sort.isEmpty else { return results }
        results = results.sorted(
          by: sort.map { path in
            path.hasPrefix("-")
              ? SortDescriptor(keyPath: String(path.dropFirst()), ascending: false)
              : SortDescriptor(keyPath: path, ascending: true)
          })
        return results
      }
      let explanation = results().explanation()
      let asked = results()
      let start = clock.nanoseconds()
      _ = asked.count
      _ = asked.first
      _ = asked.last
      let resultNanoseconds = clock.nanoseconds() - start
      let figures = explanation.figures
      func least(_ new: UInt64?, _ old: UInt64?) -> UInt64? {
        [new, old].compactMap(\.self).min()
      }
      best = Explained(
        path: path, version: realm.currentVersion, className: name, predicate: predicate,
        sort: sort, steps: explanation.lines.filter { !$0.hasPrefix("time: ") },
        found: figures.found, lookedAt: figures.lookedAt,
        planNs: least(figures.planNanoseconds, best?.planNs),
        searchNs: least(figures.searchNanoseconds, best?.searchNs),
        resultNs: min(resultNanoseconds, best?.resultNs ?? .max), repetitions: repetitions)
    }
    guard let best else { preconditionFailure("at least one repetition") }
    return best
  }

  // MARK: - Forms

  private static func times(_ explained: Explained) -> [(String, String)] {
    var times: [(String, String)] = []
    if let nanoseconds = explained.planNs {
      times.append(("plan and keys", readableDuration(nanoseconds)))
    }
    if let nanoseconds = explained.searchNs {
      times.append(("search", readableDuration(nanoseconds)))
    }
    times.append(("results, in order", readableDuration(explained.resultNs)))
    return times
  }

  private static func title(_ explained: Explained) -> String {
    "\(explained.className) where \(explained.predicate)"
      + (explained.sort.isEmpty ? "" : ", by \(explained.sort.joined(separator: ", "))")
  }

  private static func text(_ explained: Explained) -> String {
    var text = title(explained) + "\n"
    text += "  \(explained.path), version \(explained.version)\n"
    for step in explained.steps { text += "  \(step)\n" }
    text += "  shortest of \(explained.repetitions):\n"
    for (step, time) in times(explained) {
      text += "    " + step.padding(toLength: 20, withPad: " ", startingAt: 0) + time + "\n"
    }
    return text
  }

  private static func markdown(_ explained: Explained) -> String {
    var text = "**\(title(explained))**\n\n"
    text += "```\n" + explained.steps.joined(separator: "\n") + "\n```\n\n"
    text += "| step | shortest of \(explained.repetitions) |\n|---|---:|\n"
    for (step, time) in times(explained) { text += "| \(step) | \(time) |\n" }
    return text
  }
}
