// `realm-bench check` and `realm-bench inspect`.
internal import Foundation
internal import Platform

/// Refuses what could be neither a Realm file nor a folder.
func refuseNoFile(_ path: String, verb: String) throws(UsageError) {
  if path.isEmpty { throw UsageError("\(verb) needs the path of a file, not an empty one") }
  // A pipe, too: whoever opens one waits for somebody who writes, and a Realm is read anywhere.
  if case .other? = try? FileCalls.kind(path, followsLinks: true) {
    throw UsageError(
      "\(verb): '\(path)' is a device, pipe or socket, no file; give it a copy as a file")
  }
}

/// The verb `check`.
package enum CheckVerb: VerbDescription {
  package static let name = "check"
  package static let arguments = "PATH ..."
  package static let summary = "verify a .realm file completely, or the history of a run"
  package static let usage = """
    realm-bench check PATH ...

    A .realm file: check walks every block of its newest version, its tables and indexes, and sees
    that each byte has exactly one owner. It changes no content; the last part needs write
    permission. A results folder: check verifies the Realm file that 'run --keep-file' has left in it,
    and history.jsonl of 'run --history': its shape, and that it is strictly serializable.
    Exit codes: 0 sound, 1 cannot be opened, foreign or damaged, 3 an invariant is broken.

    --continuous reads Realm files round after round, beside the processes that use them, until
    Ctrl-C or --rounds: bits that flip after a process has looked at a block are found by the next
    round. Each finding is told at once, and again at the end. A thread that runs only when no other
    wants to reads every block of the newest version, and the space journal; no writer waits for it,
    no version is kept for longer than a second. Not looked at: the order of tables and indexes, and
    whether each byte has one owner.
    Exit codes: 0 at least one round, all sound, 1 as above, 130 interrupted in the first round.
    """
  package static let flags: [FlagDefinition] = [
    .init("continuous", nil, "read Realm files again and again, beside their users"),
    .init("rate", "SIZE", "with --continuous: bytes to read a second (16MiB)"),
    .init("pause", "DURATION", "with --continuous: from one round to the next (1s)"),
    .init("rounds", "N", "with --continuous: end after so many (endless)"),
    EncryptionKeyFile.flag,
    .init("format", "text|json|markdown", "form of the result (text)"),
    .init("help", nil, "show this"),
  ]

  package static func hearsSignals(_ arguments: [String]) -> Bool {
    arguments.contains("--continuous")
  }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(arguments, console: console, interruption: { SignalInterruption() })
  }

  /// - Parameter interruption: made only where something may have to be interrupted.
  package static func run(
    _ arguments: [String], console: Console, interruption: () -> any Interruption
  ) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let format: FileFormat = try values.choice("format") ?? .text
    guard !values.positional.isEmpty else {
      throw UsageError("check needs the path of a Realm file, or of a results folder")
    }
    // All of them before the first one is looked at.
    let work = try values.paths("check").flatMap(Self.work)
    let key = try EncryptionKeyFile.key(of: values)
    for flag in ["rate", "pause", "rounds"] { try values.refuse(flag, without: "continuous") }
    guard values.has("continuous") else {
      let items = work.map { Item($0, key: key) }
      try show(items, format, console)
      return code(items)
    }
    let check = try ContinuousCheck(values, key: key)
    let result = check.run(try filesOnly(work), interruption(), console)
    let items = result.checks.map(Item.file)
    try show(items, format, console)
    let code = code(items)
    return code == .success && result.isCutShort ? .interrupted : code
  }

  private static func show(_ items: [Item], _ format: FileFormat, _ console: Console) throws {
    switch format {
    case .json: console.printRaw(try encodeJSON(items))
    case .text: for item in items { console.printRaw(text(item)) }
    case .markdown: console.printRaw(markdown(items))
    }
  }

  private static func code(_ items: [Item]) -> ExitCode {
    if items.contains(where: { $0.code == .failed }) { return .failed }
    return items.map(\.code).first { $0 != .success } ?? .success
  }

  /// The Realm files among what is to be checked; a history does not change any more.
  private static func filesOnly(_ work: [Work]) throws(UsageError) -> [String] {
    let files = work.compactMap { if case .file(let path) = $0 { path } else { nil } }
    if files.isEmpty {
      throw UsageError("check --continuous is for Realm files, and there are only histories")
    }
    return files
  }

  /// What is to be checked, by its path.
  private enum Work {
    case file(String)
    case history(String)
  }

  /// A file, or what a results folder has: histories, and the Realm file if it was kept.
  private static func work(_ path: String) throws(UsageError) -> [Work] {
    try refuseNoFile(path, verb: "check")
    try RealmFilePath.refuseCompanion(path, verb: "check")
    guard RealmFilePath.isFolder(path) else { return [.file(path)] }
    let kept = RealmFilePath.kept(in: path)
    let work = histories(of: path).map(Work.history) + kept.map(Work.file)
    if work.isEmpty { throw RealmFilePath.refusal(ofFolder: path, verb: "check", kept) }
    return work
  }

  /// What was checked.
  private enum Item: Encodable {
    case file(FileCheck)
    case history(HistoryVerdict)

    init(_ work: Work, key: [UInt8]?) {
      switch work {
      case .file(let path): self = .file(FileInspection.check(path, key: key))
      case .history(let path):
        var verdict = HistoryCheck.check(path)
        // A part of a history may be sound: nobody would see that the rest is gone.
        if verdict.damage == nil, verdict.violation == nil {
          let folder = Platform.folder(of: path)
          verdict.damage =
            FileList.unreadable(in: folder)
            ?? FileList(of: folder)?.damage(of: "history.jsonl", in: folder)
        }
        self = .history(verdict)
      }
    }

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .file(let check): try check.encode(to: encoder)
      case .history(let verdict): try verdict.encode(to: encoder)
      }
    }

    var code: ExitCode {
      switch self {
      case .file(let check):
        check.verdict == .unreadable
          ? .failed : check.verdict == .broken ? .invariantViolated : .success
      case .history(let verdict):
        verdict.damage != nil ? .failed : verdict.violation != nil ? .invariantViolated : .success
      }
    }
  }

  private static func text(_ item: Item) -> String {
    switch item {
    case .file(let check): return text(check)
    case .history(let verdict):
      var text = "\(verdict.path): \(self.verdict(verdict))\n"
      for line in verdict.witness { text += "  \(line)\n" }
      if verdict.damage == nil {
        text +=
          "  \(grouped(verdict.transactions)) transactions, \(grouped(verdict.reads)) reads, "
          + "\(grouped(verdict.writes)) writes, \(grouped(verdict.indeterminate)) of unknown end\n"
      }
      return text
    }
  }

  private static func verdict(_ verdict: HistoryVerdict) -> String {
    if let damage = verdict.damage { return "no history: \(damage)" }
    return verdict.violation ?? "strictly serializable"
  }

  private static func markdown(_ items: [Item]) -> String {
    TextTable(
      header: ["path", "verdict", "findings"],
      rows: items.map { item in
        switch item {
        case .file(let check): [check.path, verdict(check), String(check.findings.count)]
        case .history(let history):
          [history.path, verdict(history), String(item.code == .success ? 0 : 1)]
        }
      }
    ).markdown
  }

  /// The histories of a results folder and its replicas, those that it should have, too.
  private static func histories(of path: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let replicas = names.filter { $0.hasPrefix("replica-") }.sorted().map { "\(path)/\($0)" }
    return ([path] + replicas).filter { folder in
      FileManager.default.fileExists(atPath: folder + "/history.jsonl")
        || FileList(of: folder)?.lists("history.jsonl") == true
    }.map { $0 + "/history.jsonl" }
  }

  private static func text(_ check: FileCheck) -> String {
    var text = "\(check.path): \(verdict(check))\n"
    if let version = check.version, let blocks = check.blocks {
      text += "  version \(version), \(grouped(blocks)) blocks"
      if let tables = check.tables, let objects = check.objects {
        text += ", \(tables) tables, \(grouped(objects)) objects"
      }
      text += "\n"
    }
    if let reachable = check.reachableBytes, let file = check.fileBytes {
      text += "  file \(readableBytes(file)): reachable \(readableBytes(reachable))"
      if let held = check.heldBytes, let free = check.freeBytes {
        text += ", held for pins \(readableBytes(held)), free \(readableBytes(free))"
      }
      text += "\n"
    }
    for finding in check.findings.prefix(20) { text += "  \(finding)\n" }
    if check.findings.count > 20 { text += "  and \(check.findings.count - 20) more\n" }
    for note in check.notes { text += "  note: \(note)\n" }
    return text
  }

  private static func verdict(_ check: FileCheck) -> String {
    switch check.verdict {
    case .sound: "sound"
    case .unreadable: "cannot be read"
    case .broken: "readable, but its structure is broken (\(check.findings.count) findings)"
    }
  }
}

/// The verb `inspect`.
package enum InspectVerb: VerbDescription {
  package static let name = "inspect"
  package static let arguments = "FILE.realm"
  package static let summary = "versions, space and tables; also of a file in use"
  package static let usage = """
    realm-bench inspect FILE.realm

    Versions, space and tables of a file, or of the file in a results folder; also of one in use.
    With --profile what its objects are like instead: how many, sizes of texts, data and collections,
    how many are missing, and a run that resembles them. No value is shown.
    An encrypted file needs --encryption-key.
    """
  package static let flags: [FlagDefinition] = [
    .init("profile", nil, "numbers and sizes of the objects, from up to 10,000 of each class"),
    EncryptionKeyFile.flag,
    .init("format", "text|json|markdown", "form of the result (text)"),
    .init("help", nil, "show this"),
  ]

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let format: FileFormat = try values.choice("format") ?? .text
    let paths = try values.paths("inspect")
    guard paths.count == 1 else {
      throw UsageError(
        "inspect needs the path of one Realm file, or of a results folder of 'run --keep-file'")
    }
    let path = try RealmFilePath.one(paths[0], verb: "inspect")
    let key = try EncryptionKeyFile.key(of: values)
    return try EndingStops.during(name, console) {
      try look(at: path, key, isProfile: values.has("profile"), format, console)
    }
  }

  private static func look(
    at path: String, _ key: [UInt8]?, isProfile: Bool, _ format: FileFormat, _ console: Console
  ) throws -> ExitCode {
    do {
      if isProfile {
        let profile = try FileProfile(path: path, key: key)
        switch format {
        case .json: console.printRaw(try encodeJSON(profile))
        case .text: console.printRaw(text(profile, isMarkdown: false))
        case .markdown: console.printRaw(text(profile, isMarkdown: true))
        }
        return .success
      }
      let description = try FileInspection.describe(path, key: key)
      switch format {
      case .json: console.printRaw(try encodeJSON(description))
      case .text: console.printRaw(text(description))
      case .markdown: console.printRaw(markdown(description))
      }
      return .success
    } catch {
      console.note("error: \(error.explanation)")
      return .failed
    }
  }

  private static func words(_ key: FileProfile.KeyProfile?) -> String {
    guard let key else { return "; no primary key" }
    let density = key.density.map {
      ", \(decimal($0, places: 3)) objects a number from the least to the greatest"
    }
    return "; primary key \(key.name), \(key.type)" + (density ?? "")
  }

  private static func text(_ profile: FileProfile, isMarkdown: Bool) -> String {
    var text = "\(profile.path), version \(profile.version)\n"
    for entry in profile.classes {
      let table = TextTable(
        header: ["property", "type", "values", "missing", "min", "p50", "p90", "p99", "max"],
        rows: entry.properties.map { property in
          let sizes = property.sizes
          func shown(_ value: Int?) -> String { value.map { grouped($0) } ?? "-" }
          return [
            property.name, property.type, shown(sizes?.count), shown(sizes?.missing),
            shown(sizes?.minimum), shown(sizes?.p50), shown(sizes?.p90), shown(sizes?.p99),
            shown(sizes?.maximum),
          ]
        })
      text +=
        "\n\(entry.name): \(grouped(entry.objects)) objects, \(grouped(entry.sampled)) looked at\(words(entry.primaryKey))\n"
      text += "\n" + (isMarkdown ? table.markdown : table.text)
      if let command = entry.command {
        text += "\nresembled by: " + (isMarkdown ? "`\(command)`" : command) + "\n"
      }
    }
    return text
  }

  private static func markdown(_ file: FileDescription) -> String {
    let versions = TextTable(
      header: ["version", "age s", "retained bytes", "owner"],
      rows: file.versions.map { version in
        [
          String(version.version), version.ageS.map { decimal($0, places: 3) } ?? "-",
          version.retainedBytes.map { String($0) } ?? "-", version.owner,
        ]
      })
    let tables = TextTable(
      header: ["table", "objects", "primary key", "columns"],
      rows: file.tables.map { table in
        [table.name, String(table.objects), table.primaryKey ?? "-", String(table.columns.count)]
      })
    return "**\(file.path)**: version \(file.newestVersion), \(readableBytes(file.fileBytes))\n\n"
      + versions.markdown + "\n" + tables.markdown
  }

  private static func text(_ file: FileDescription) -> String {
    var lines = ["\(file.path)"]
    lines.append(
      "  version \(file.newestVersion), schema version \(file.schemaVersion)"
        + (file.commits.map { ", \(grouped(Int($0))) commits" } ?? ""))
    var space = "  file \(readableBytes(file.fileBytes))"
    if let live = file.liveBytes, let held = file.heldBytes, let free = file.freeBytes {
      space +=
        ": live \(readableBytes(live)), held for pins \(readableBytes(held)), "
        + "free \(readableBytes(free))"
    }
    lines.append(space)
    lines.append("  \(file.liveVersions) live versions")
    for version in file.versions {
      lines.append(
        "    \(version.version)\(version.isNewest ? " (newest)" : "")"
          + (version.ageS.map { ", \(decimal($0, places: 3)) s old" } ?? "")
          + (version.retainedBytes.map { ", retains \(readableBytes($0))" } ?? "")
          + ", \(version.owner)")
    }
    if let writer = file.writer { lines.append("  \(writer) writes") }
    for waiter in file.waiters { lines.append("    \(waiter) waits for it") }
    lines.append("  \(file.tables.count) tables")
    for table in file.tables {
      lines.append("    \(table.name): \(grouped(table.objects)) objects")
      for column in table.columns {
        lines.append(
          "      \(column.name): \(column.type)\(column.isOptional ? "?" : "")"
            + (column.name == table.primaryKey ? ", primary key" : "")
            + (column.isIndexed ? ", indexed" : ""))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Form of the result of `check`, `inspect` and `list`.
package enum FileFormat: String, CaseIterable, Sendable {
  case text
  case json
  case markdown
}
