// The background processes of a run: started before its threads, stopped, resumed and killed as the
// plan says, ended with it. Used on the coordinator's thread only. Signals go to processes that
// were started here and have not been waited for, so that no number of a process is ever used
// twice.
internal import Foundation
internal import Glibc
internal import Platform

/// What went wrong with a background process.
struct CompanionFailure: ErrorInWords, CustomStringConvertible {
  let description: String
  var words: String { description }
}

/// Runs the background load of a plan.
package final class Companions {
  private final class Member {
    let load: BackgroundLoad
    let number: Int
    let process: Process
    let errors: Pipe
    /// Whether it was killed on purpose.
    var isKilled = false

    init(_ load: BackgroundLoad, _ number: Int, _ process: Process, _ errors: Pipe) {
      self.load = load
      self.number = number
      self.process = process
      self.errors = errors
    }

    var name: String { load.processes == 1 ? load.name : "\(load.name) \(number)" }
  }

  private struct Action {
    let at: UInt64
    let kind: PlannedFault.Kind
    let process: String
  }

  /// How long a process may take to open the file.
  private static let startMilliseconds: Int32 = 30_000

  private let script: RunScript
  private let path: String
  private let durability: DurabilityClass
  private let seed: UInt64
  private let tool: String
  private var members: [Member] = []
  /// What is still to be done, the next one first.
  private var actions: [Action]
  private var began: UInt64 = 0
  package private(set) var events: [RunEvent] = []

  package init(
    _ script: RunScript, path: String, durability: DurabilityClass, seed: UInt64, tool: String
  ) {
    self.script = script
    self.path = path
    self.durability = durability
    self.seed = seed
    self.tool = tool
    var actions: [Action] = []
    for fault in script.faults {
      actions.append(Action(at: fault.atNs, kind: fault.kind, process: fault.process))
      if let length = fault.forNs {
        actions.append(Action(at: fault.atNs + length, kind: .resume, process: fault.process))
      }
    }
    self.actions = actions.sorted { $0.at < $1.at }
  }

  /// Starts them all, and returns when each has opened the file.
  package func start() throws {
    for load in script.background {
      for number in 1...load.processes { members.append(try launch(load, number)) }
    }
  }

  private func launch(_ load: BackgroundLoad, _ number: Int) throws -> Member {
    do throws(SystemError) { try ProcessStart.check(toStart: tool) } catch {
      throw Self.notStarted(load, error)
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = [
      BackgroundVerb.name, load.kind.rawValue, "--path", path, "--count", String(load.count),
      "--every", "\(load.everyNs)ns", "--durability", durability.rawValue,
      "--seed", String(seed &+ UInt64(number)),
    ]
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    do {
      try process.start()
    } catch {
      throw Self.notStarted(load, error)
    }
    let member = Member(load, number, process, errors)
    // It says one line when it has the file open, or ends.
    var ready = pollfd(
      fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    let hasSpoken = poll(&ready, 1, Self.startMilliseconds) > 0
    let said = hasSpoken ? output.fileHandleForReading.availableData : Data()
    guard said.starts(with: BackgroundVerb.readyLine.utf8) else {
      if !hasSpoken { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
      throw CompanionFailure(
        description: "the background process '\(member.name)' did not start: \(lastWords(errors))")
    }
    return member
  }

  private static func notStarted(_ load: BackgroundLoad, _ error: any Error) -> CompanionFailure {
    CompanionFailure(
      description: "the background process '\(load.name)' cannot be started: \(error.explanation)")
  }

  private func lastWords(_ pipe: Pipe) -> String {
    let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    return text.split(separator: "\n").last.map(String.init) ?? "it said nothing"
  }

  /// The measured phase has begun: the times of faults count from here.
  package func begin(at now: UInt64) { began = now }

  /// Does what is due, and looks whether all are there.
  package func follow(at now: UInt64) throws {
    for member in members where !member.process.isRunning && !member.isKilled {
      throw CompanionFailure(
        description:
          "the background process '\(member.name)' ended by itself: \(lastWords(member.errors))")
    }
    guard began > 0 else { return }
    while let action = actions.first, now - began >= action.at {
      actions.removeFirst()
      for member in members where member.load.name == action.process && !member.isKilled {
        perform(action.kind, member, now)
      }
    }
  }

  private func perform(_ kind: PlannedFault.Kind, _ member: Member, _ now: UInt64) {
    let identifier = member.process.processIdentifier
    switch kind {
    case .stop: kill(identifier, SIGSTOP)
    case .resume: kill(identifier, SIGCONT)
    case .kill:
      member.isKilled = true
      kill(identifier, SIGKILL)
      member.process.waitUntilExit()
    }
    note(kind.rawValue, member, now)
  }

  private func note(_ event: String, _ member: Member, _ now: UInt64) {
    events.append(
      RunEvent(
        elapsedSeconds: Double(now - began) / 1e9, process: member.load.name,
        number: member.number, event: event))
  }

  /// Ends them all and waits until they are gone.
  package func end() {
    let running = members.filter { $0.process.isRunning }
    for member in running {
      // Who is stopped hears of nothing else.
      kill(member.process.processIdentifier, SIGTERM)
      kill(member.process.processIdentifier, SIGCONT)
    }
    let clock = MonotonicClock()
    let deadline = clock.nanoseconds() + 5_000_000_000
    for member in running {
      while member.process.isRunning && clock.nanoseconds() < deadline {
        sleep(nanoseconds: 2_000_000)
      }
      if member.process.isRunning { kill(member.process.processIdentifier, SIGKILL) }
      member.process.waitUntilExit()
    }
    members = []
  }
}
