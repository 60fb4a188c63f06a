// A trap in an explored program ends the process: the schedule is printed before.
internal import CRaceHunt
internal import Glibc

enum Crash {
  /// Prints the schedule of a program that crashes; set up once a process.
  static let isReported: Bool = {
    race_hunt_report_crashes { signal in
      guard let run = Worker.current?.run else { return }
      let name = String(cString: strsignal(signal))
      var text = "\nRaceHunt: the program crashes (\(name)) in schedule \(run.number + 1)\n\n"
      text += ScheduleTable(run).text
      text += "\nto repeat it: try replay(\"\(run.schedule)\") { ... }\n\n"
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
