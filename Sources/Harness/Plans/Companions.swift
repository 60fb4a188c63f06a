// The background processes of a run: started before its threads, stopped, resumed and killed as the
// plan says, ended with it. Used on the coordinator's thread only. Signals go to processes that
// were started here and have not been waited for, so that no number of a process is ever used
// twice.
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
    let process: StartedProcess
    /// Whether it was killed on purpose.
    var isKilled = false

    init(_ load: BackgroundLoad, _ number: Int, _ process: StartedProcess) {
      self.load = load
      self.number = number
      self.process = process
    }

    var name: String { load.processes == 1 ? load.name : "\(load.name) \(number)" }
  }

  private struct Action {
    let at: UInt64
    let kind: PlannedFault.Kind
    let process: String
  }

  /// How long a process may take to open the file.
  private static let startNanosecondsMax: UInt64 = 30_000_000_000

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
    let process: StartedProcess
    do throws(SystemError) {
      process = try StartedProcess(
        tool,
        [
          BackgroundVerb.name, load.kind.rawValue, "--path", path, "--count", String(load.count),
          "--every", "\(load.everyNs)ns", "--durability", durability.rawValue,
          "--seed", String(seed &+ UInt64(number)),
        ], hasInput: false, output: .gathered, errors: .gathered)
    } catch {
      throw Self.notStarted(load, error)
    }
    let member = Member(load, number, process)
    // It says one line when it has the file open, or ends.
    let clock = MonotonicClock()
    let deadline = clock.nanoseconds() + Self.startNanosecondsMax
    while process.isRunning, process.output.isEmpty, clock.nanoseconds() < deadline {
      sleep(nanoseconds: 1_000_000)
    }
    guard process.output.hasPrefix(BackgroundVerb.readyLine) else {
      process.stop()
      throw CompanionFailure(
        description: "the background process '\(member.name)' did not start: \(lastWords(member))")
    }
    return member
  }

  private static func notStarted(_ load: BackgroundLoad, _ error: any Error) -> CompanionFailure {
    CompanionFailure(
      description: "the background process '\(load.name)' cannot be started: \(error.explanation)")
  }

  private func lastWords(_ member: Member) -> String {
    member.process.errors.split(separator: "\n").last.map(String.init) ?? "it said nothing"
  }

  /// The measured phase has begun: the times of faults count from here.
  package func begin(at now: UInt64) { began = now }

  /// Does what is due, and looks whether all are there.
  package func follow(at now: UInt64) throws {
    for member in members where !member.process.isRunning && !member.isKilled {
      throw CompanionFailure(
        description:
          "the background process '\(member.name)' ended by itself: \(lastWords(member))")
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
    switch kind {
    case .stop: member.process.send(SIGSTOP)
    case .resume: member.process.send(SIGCONT)
    case .kill:
      member.isKilled = true
      member.process.stop()
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
      member.process.send(SIGTERM)
      member.process.send(SIGCONT)
    }
    let clock = MonotonicClock()
    let deadline = clock.nanoseconds() + 5_000_000_000
    for member in running {
      while member.process.isRunning && clock.nanoseconds() < deadline {
        sleep(nanoseconds: 2_000_000)
      }
      member.process.stop()
    }
    members = []
  }
}
