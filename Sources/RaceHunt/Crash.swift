// A trap in an explored program ends the process: the schedule is printed before.
internal import CRaceHunt
internal import Glibc
internal import Synchronization

package enum Crash {
  /// What is done with a crash; nil prints it.
  private static let handler = Synchronization.Mutex<(@Sendable (RaceFailure) -> Void)?>(nil)

  /// Gives crashes of explored programs to somebody who prints them, keeps them and may end the
  /// process; else that ends as it would without an exploration.
  ///
  /// - Parameter body: runs where the program has crashed, while nothing else of it runs. It may
  ///   allocate; after 20 s the process is ended.
  package static func handle(_ body: (@Sendable (RaceFailure) -> Void)?) {
    handler.withLock { $0 = body }
  }

  /// Prints the schedule of a program that crashes; set up once a process.
  static let isReported: Bool = {
    race_hunt_report_crashes { signal in
      guard let run = Worker.current?.run else { return }
      let failure = RaceFailure(
        crash: "the program crashes (\(String(cString: strsignal(signal))))", of: run)
      if let body = handler.withLock({ $0 }) {
        // What it does is no step of the program: the others stay where they are.
        race_hunt_set_worker(nil)
        return body(failure)
      }
      var text = "\nRaceHunt: \(failure.reason) in schedule \(run.number + 1)\n\n"
      text += failure.table
      let arguments = "\"\(run.schedule)\"\(failure.stepsArgument)"
      text += "\nto repeat it: try replay(\(arguments)) { ... }\n\n"
      var copy = text
      copy.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          race_hunt_write_error($0.baseAddress!, $0.count)
        }
      }
    }
    return true
  }()
}
