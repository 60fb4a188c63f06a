// A schedule as people read it.
internal import CRaceHunt

/// The steps of a run, a column a strand.
struct ScheduleTable {
  private let run: Run
  private static let rowsAroundSwitch = 8

  init(_ run: Run) { self.run = run }

  /// So many of what the program says itself are shown.
  private static let notesMax = 60

  /// A wider table has fewer rows, and so fewer columns.
  private static let widthMax = 240

  /// The last rows, those around the schedule's own turns and what the program has noted, and then
  /// those around other switches, the later ones first.
  private func rows(atMost rowsMax: Int) -> [Int] {
    let events = run.events
    if events.count <= rowsMax { return Array(events.indices) }
    var isShown = events.indices.map { $0 >= events.count - rowsMax / 2 }
    for step in events.indices.filter({ events[$0].operation == .notes }).suffix(Self.notesMax) {
      isShown[step] = true
    }
    var left = rowsMax - rowsMax / 2
    func show(around step: Int) {
      let first = max(0, step - Self.rowsAroundSwitch / 2)
      let last = min(events.count, step + Self.rowsAroundSwitch / 2)
      for row in first..<max(first, last) where !isShown[row] {
        isShown[row] = true
        left -= 1
      }
    }
    for step in run.turnSteps.reversed() where left >= Self.rowsAroundSwitch { show(around: step) }
    for step in events.indices.dropFirst().reversed() {
      if left < Self.rowsAroundSwitch { break }
      if events[step - 1].strand != events[step].strand { show(around: step) }
    }
    return events.indices.filter { isShown[$0] }
  }

  /// In one line of a table, whose columns are not to be too wide.
  private static func short(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
    let line = lines.joined(separator: " / ")
    return line.count > 120 ? line.prefix(117) + "..." : line
  }

  private func shown(in rows: [Int]) -> [Int] {
    Set(rows.map { Int(run.events[$0].strand) }).sorted()
  }

  private var hasNoEnd: Bool {
    run.violation?.kind == .livelock || run.violation?.kind == .goesOn
  }

  private var rows: [Int] {
    var rows: [Int] = []
    for count in hasNoEnd ? [24] : [100, 60, 40, 24] {
      rows = self.rows(atMost: count)
      var widths: [Int32: Int] = [:]
      for row in rows {
        let event = run.events[row]
        widths[event.strand] = max(widths[event.strand] ?? 0, Self.short(run.cell(event)).count)
      }
      if widths.values.reduce(0, { $0 + $1 + 3 }) <= Self.widthMax { break }
    }
    return rows
  }

  /// The table, with marks for the lines of calls: see `CallLines`.
  var text: String {
    let events = run.events
    let rows = rows
    let shown = shown(in: rows)
    let cells = rows.map { Self.short(run.cell(events[$0])) }
    let widths = shown.map { strand in
      zip(rows, cells).reduce(run.strands[strand].name.count) {
        Int(events[$1.0].strand) == strand ? max($0, $1.1.count) : $0
      }
    }
    func row(_ mark: String, _ step: String, _ texts: [String], _ place: String) -> String {
      var line = mark + String(repeating: " ", count: max(0, 5 - step.count)) + step
      for (text, width) in zip(texts, widths) {
        line += " | " + text + String(repeating: " ", count: width - text.count)
      }
      return line + " | " + place + "\n"
    }
    var text = row(" ", "step", shown.map { run.strands[$0].name }, "where")
    var next = 0
    for (step, cell) in zip(rows, cells) {
      if step > next { text += "        (\(step - next) steps)\n" }
      next = step + 1
      let event = events[step]
      let isSwitch = step > 0 && events[step - 1].strand != event.strand
      let texts = shown.map { $0 == Int(event.strand) ? cell : "" }
      text += row(isSwitch ? ">" : " ", "\(step + 1)", texts, event.place?.textToResolve ?? "")
    }
    return text.split(separator: "\n").map { line in
      var line = line
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n") + "\n"
  }
}

extension Place {
  /// The function that an address is in, without its parameters; else where the address is in its
  /// file.
  static func symbol(_ address: UInt) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      race_hunt_symbol(address, buffer.baseAddress!, buffer.count)
      let name = String(cString: buffer.baseAddress!)
      return String(name.prefix { $0 != "(" && $0 != "<" }.suffix(60))
    }
  }

  /// A line of a file, or a function.
  var text: String { CallLines.resolved(in: textToResolve) }

  /// A line of a file, what stands for the line of a call, or a function.
  fileprivate var textToResolve: String {
    guard let file else { return isCall ? CallLines.marked(number) : Self.symbol(number) }
    let whole = "\(file)"
    return (whole.split(separator: "/").last.map(String.init) ?? whole) + ":\(number)"
  }
}

extension Run {
  /// What an event says, without who does it.
  fileprivate func cell(_ event: Event) -> String {
    let object = Int(event.object)
    switch event.operation {
    case .notes, .calls: return texts[object]
    case .violates: return "FAILS: " + texts[object]
    case .starts, .joins: return "\(event.operation.text) \(strands[object].name)"
    case .waitsForLock where event.value == 0: return "does not get \(resourceList[object].name)"
    default: break
    }
    var text = event.operation.text
    if object >= 0 { text += " \(resourceList[object].name)" }
    if [.wakesForNothing, .failsForNothing].contains(event.operation) { text += " for nothing" }
    guard let value = event.value else { return text }
    switch event.operation {
    case .loads, .failsToExchange, .failsForNothing: return text + ": \(value)"
    default: return text + " = \(value)"
    }
  }

  /// What the program has noted of itself, a line each.
  var history: String {
    var lines: [String] = []
    for (step, event) in events.enumerated() {
      guard event.operation == .notes || event.operation == .violates else { continue }
      lines.append("\(step + 1)\t\(strands[Int(event.strand)].name)\t\(cell(event))\n")
    }
    return lines.joined()
  }

  /// An event as a sentence; also of the step behind the last one.
  func sentence(_ step: Int) -> String {
    guard step < events.count else { return "there is no such step" }
    let event = events[step]
    let place = event.place.map { " (\($0.text))" } ?? ""
    return "\(strands[Int(event.strand)].name) \(cell(event))\(place)"
  }
}
