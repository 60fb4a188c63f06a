// A schedule as people read it.
internal import CRaceHunt

/// The steps of a run, a column a strand.
struct ScheduleTable {
  private let run: Run
  /// More rows than these are cut at the front.
  private var rowsMax: Int { run.violation?.kind == .livelock ? 24 : 100 }

  init(_ run: Run) { self.run = run }

  var text: String {
    let events = run.events
    let first = max(0, events.count - rowsMax)
    let shown = Set(events[first...].map { Int($0.strand) }).sorted()
    let cells = events[first...].map { run.cell($0) }
    let widths = shown.map { strand in
      zip(events[first...], cells).reduce(run.strands[strand].name.count) {
        Int($1.0.strand) == strand ? max($0, $1.1.count) : $0
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
    if first > 0 { text += "        (\(first) steps before)\n" }
    for (offset, event) in events[first...].enumerated() {
      let isSwitch = first + offset > 0 && events[first + offset - 1].strand != event.strand
      let texts = shown.map { $0 == Int(event.strand) ? cells[offset] : "" }
      let place = event.place?.text ?? ""
      text += row(isSwitch ? ">" : " ", "\(first + offset + 1)", texts, place)
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

  /// An event as a sentence; also of the step behind the last one.
  func sentence(_ step: Int) -> String {
    guard step < events.count else { return "there is no such step" }
    return "\(strands[Int(events[step].strand)].name) \(cell(events[step]))"
  }
}
