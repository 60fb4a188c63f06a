// `realm-bench check` and `realm-bench inspect`.
internal import Foundation

/// Refuses what could be neither a Realm file nor a folder.
private func refuseNoFile(_ path: String, verb: String) throws(UsageError) {
  if path.isEmpty { throw UsageError("\(verb) needs the path of a file, not an empty one") }
  let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
  switch kind {
  case .typeCharacterSpecial, .typeBlockSpecial, .typeSocket:
    throw UsageError("\(verb): '\(path)' is a device or a socket, no file")
  default: return
  }
}

/// The verb `check`.
package enum CheckVerb {
  private static let flags: [FlagDefinition] = [
    .init("format", "text|json", "form of the result (text)"),
    .init("help", nil, "show this"),
  ]

  package static func run(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(
        Help.short(
          """
          realm-bench check PATH ...

          Walks each .realm file completely: every block of its newest version, tables, indexes,
          and that every byte belongs to exactly one owner. Content is not changed; the last part
          needs write permission.
          Exit codes: 0 sound, 1 cannot be opened, foreign or damaged, 3 an invariant is broken.
          """, flags))
      return .success
    }
    let format: FileFormat = try values.choice("format") ?? .text
    guard !values.positional.isEmpty else { throw UsageError("check needs the path of a file") }
    for path in values.positional {
      try refuseNoFile(path, verb: "check")
      try refuseFolder(path)
    }
    let checks = values.positional.map(FileInspection.check)
    switch format {
    case .json: console.printRaw(try encodeJSON(checks))
    case .text: for check in checks { console.printRaw(text(check)) }
    }
    if checks.contains(where: { $0.verdict == .unreadable }) { return .failed }
    return checks.contains { $0.verdict == .broken } ? .invariantViolated : .success
  }

  private static func refuseFolder(_ path: String) throws(UsageError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { return }
    guard FileManager.default.fileExists(atPath: path + "/run.json") else {
      throw UsageError("check: '\(path)' is a folder, and no results folder")
    }
    guard FileManager.default.fileExists(atPath: path + "/history.jsonl") else {
      throw UsageError("check: '\(path)' holds no history (history.jsonl) that could be verified")
    }
    throw UsageError("check: verifying the history of a results folder is not in this version")
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
package enum InspectVerb {
  private static let flags: [FlagDefinition] = [
    .init("format", "text|json", "form of the result (text)"),
    .init("help", nil, "show this"),
  ]

  package static func run(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(
        Help.short(
          """
          realm-bench inspect FILE.realm

          Versions, space and tables of a file; also of one that is in use.
          """, flags))
      return .success
    }
    let format: FileFormat = try values.choice("format") ?? .text
    guard values.positional.count == 1, let path = values.positional.first else {
      throw UsageError("inspect needs the path of one file")
    }
    try refuseNoFile(path, verb: "inspect")
    do {
      let description = try FileInspection.describe(path)
      switch format {
      case .json: console.printRaw(try encodeJSON(description))
      case .text: console.printRaw(text(description))
      }
      return .success
    } catch {
      console.note("error: \(error)")
      return .failed
    }
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

/// Form of the result of `check` and `inspect`.
package enum FileFormat: String, CaseIterable, Sendable {
  case text
  case json
}
