// The rules of `compare`: how much worse each row may get, which regressions are known, and where
// those are written down.
internal import Foundation
internal import Platform

extension CompareVerb {
  static func rules(_ values: FlagValues) throws(UsageError) -> ComparisonRules {
    var rules = ComparisonRules()
    rules.acceptsPartial = values.has("partial")
    rules.decidesEveryRow = values.has("every-row")
    rules.across = values.all("across")
    try readTolerances(values.all("max-regression"), &rules)
    let (rows, reasons) = (values.all("accept"), values.all("reason"))
    guard rows.count == reasons.count else {
      throw UsageError(
        "--accept and --reason go together, one of each a row: there are \(rows.count) and "
          + "\(reasons.count)")
    }
    for (row, reason) in zip(rows, reasons) {
      try accept(row, Acceptance(reason: reason), "--accept", &rules)
    }
    if let path = values.first("accepted") {
      // What is accepted now may be the first that ever was.
      let isMade = !rows.isEmpty && (try? FileCalls.kind(path, followsLinks: true)) == nil
      if !isMade { try readAccepted(path, &rules) }
    }
    return rules
  }

  private static func readTolerances(
    _ texts: [String], _ rules: inout ComparisonRules
  ) throws(UsageError) {
    var isGeneralGiven = false
    for text in texts {
      // A phase may have the sign in its name.
      let sign = text.lastIndex(of: "=")
      let parts =
        sign.map { [text[..<$0], text[text.index(after: $0)...]].map(String.init) } ?? [text]
      guard let last = parts.last, last.hasSuffix("%"), parts[0] != "" else {
        throw UsageError(
          "--max-regression: '\(text)' is not of the form 'read.service_p99_ns=10%' or '5%'")
      }
      guard let percent = Units.number(last.dropLast()), percent < 1_000 else {
        throw UsageError(
          "--max-regression: '\(last)' is no share by which a row may get worse, from 0% to less "
            + "than 1000%")
      }
      let isTwice =
        parts.count == 1
        ? isGeneralGiven : rules.tolerances.updateValue(percent / 100, forKey: parts[0]) != nil
      if isTwice {
        let what = parts.count == 1 ? "the share of all rows" : "'\(parts[0])'"
        throw UsageError("--max-regression: \(what) is given twice")
      }
      if parts.count == 1 {
        rules.tolerance = percent / 100
        rules.toleranceOfExact = percent / 100
        isGeneralGiven = true
      }
    }
    guard rules.tolerances.count <= rules.gateRowsMax else {
      throw UsageError("--max-regression: at most \(rules.gateRowsMax) rows can be judged at once")
    }
  }

  /// Adds what `--accept` has accepted to the file of `--accepted`, where reviewers see it.
  static func keepAccepted(
    _ comparison: Comparison, _ rules: ComparisonRules, _ values: FlagValues, _ console: Console
  ) throws(SystemError) {
    let rows = comparison.rows.filter(\.isAccepted).map(\.row.name)
    let lines = rows.compactMap { row in
      rules.accepted[row].flatMap { $0.file == nil ? "\(row): \($0.reason)" : nil }
    }
    guard !lines.isEmpty else { return }
    guard let path = values.first("accepted") else {
      if !values.has("quiet") {
        console.note(
          "accepted this time; with '--accepted results/accepted', too, it is written there for the "
            + "next ones: " + lines.joined(separator: "; "))
      }
      return
    }
    let text = lines.map { $0 + "\n" }.joined()
    do throws(SystemError) { try FileCalls.writeNew(text, to: path) } catch {
      guard error.alreadyExists else { throw error }
      let isCut = textOfFile(path).map { !$0.isEmpty && !$0.hasSuffix("\n") } ?? false
      try FileCalls.append((isCut ? "\n" : "") + text, to: path)
    }
    if !values.has("quiet") { console.note("added to '\(path)': " + lines.joined(separator: "; ")) }
  }

  private static func accept(
    _ row: String, _ acceptance: Acceptance, _ place: String, _ rules: inout ComparisonRules
  ) throws(UsageError) {
    var acceptance = acceptance
    acceptance.reason = acceptance.reason.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !acceptance.reason.isEmpty else {
      throw UsageError("\(place): '\(row)' needs a reason that says something")
    }
    guard rules.accepted.updateValue(acceptance, forKey: row) == nil else {
      throw UsageError("\(place): '\(row)' is accepted twice")
    }
  }

  private static func readAccepted(
    _ path: String, _ rules: inout ComparisonRules
  ) throws(UsageError) {
    guard let text = textOfFile(path) else {
      throw UsageError("--accepted: '\(path)' cannot be read")
    }
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (number, line) in lines.enumerated() {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let place = "--accepted: line \(number + 1) of '\(path)'"
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageError("\(place) is not 'ROW: REASON'")
      }
      try accept(
        parts[0].trimmingCharacters(in: .whitespaces),
        Acceptance(reason: String(parts[1]), file: path), place, &rules)
    }
  }
}
