// A schedule as people read it.
internal import CRaceHunt

/// The steps of a run, a column a strand.
struct ScheduleTable {
  private let run: Run
  /// Of more rows than these some are left out.
  private var rowsMax: Int { run.violation?.kind == .livelock ? 24 : 100 }

  private static let rowsAroundSwitch = 8

  init(_ run: Run) { self.run = run }

  /// So many of what the program says itself are shown.
  private static let notesMax = 60

  /// The last rows, and in front of them those around switches and what the program has noted, the
  /// later ones first.
  private var rows: [Int] {
    let events = run.events
    if events.count <= rowsMax { return Array(events.indices) }
    var isShown = events.indices.map { $0 >= events.count - rowsMax / 2 }
    for step in events.indices.filter({ events[$0].operation == .notes }).suffix(Self.notesMax) {
      isShown[step] = true
    }
    var left = rowsMax - rowsMax / 2
    for step in events.indices.dropFirst().reversed() {
      if left < Self.rowsAroundSwitch { break }
      guard events[step - 1].strand != events[step].strand else { continue }
      let first = max(0, step - Self.rowsAroundSwitch / 2)
      let last = min(events.count, step + Self.rowsAroundSwitch / 2)
      for row in first..<last where !isShown[row] {
        isShown[row] = true
        left -= 1
      }
    }
    return events.indices.filter { isShown[$0] }
  }

  var text: String {
    let events = run.events
    let rows = rows
    let shown = Set(rows.map { Int(events[$0].strand) }).sorted()
    let cells = rows.map { run.cell(events[$0]) }
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
      text += row(isSwitch ? ">" : " ", "\(step + 1)", texts, event.place?.text ?? "")
    }
    return text.split(separator: "\n").map { line in
      var line = line
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n") + "\n"
  }

  /// The function that an address is in, without its parameters; else where the address is in its
  /// file.
  fileprivate static func symbol(_ address: UInt) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      race_hunt_symbol(address, buffer.baseAddress!, buffer.count)
      let name = String(cString: buffer.baseAddress!)
      return String(name.prefix { $0 != "(" && $0 != "<" }.suffix(60))
    }
  }
}

extension Place {
  /// A line of a file, or a function.
  var text: String {
    guard let file else { return ScheduleTable.symbol(number) }
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
    guard let value = event.value else { return text }
    switch event.operation {
    case .loads, .failsToExchange: return text + ": \(value)"
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
    return "\(strands[Int(events[step].strand)].name) \(cell(events[step]))"
  }
}
