// Threads that wait in the kernel, where no schedule reaches: who has the baton keeps all others
// from going on, and perhaps the one that it waits for.
internal import CRaceHunt

/// Where a thread of this process waits in the kernel.
struct KernelWait {
  /// The name of the call, as programs know it; empty when it runs, or nothing is known of it.
  let call: String
  /// Whether nothing but what somebody else does ends it: no limit of time, no work of the kernel.
  let isWithoutEnd: Bool
  /// Whether it runs.
  let runs: Bool

  init(ofThread thread: Int32) {
    var name = [CChar](repeating: 0, count: 64)
    let state = race_hunt_kernel_wait(thread, &name, name.count)
    call = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    isWithoutEnd = state == Int32(RACE_HUNT_WAITS_WITHOUT_END)
    runs = state == Int32(RACE_HUNT_RUNS)
  }
}

/// What is known of a run in which nothing has moved for so long.
struct Hang {
  let nanoseconds: UInt64
  let wait: KernelWait
}

extension Run {
  /// Of a run that was given up.
  var hangText: String {
    guard let hang else { return "hangs" }
    let last = events.last.flatMap { event in event.place.map { " (\($0.text))" } } ?? ""
    let cause =
      if hang.wait.runs {
        "it runs without end"
      } else if hang.wait.call.isEmpty {
        "it runs without end, or waits for something that is not under control"
      } else {
        "it waits in the kernel (\(hang.wait.call)) for something that is not under control, and "
          + "nobody else goes on meanwhile"
      }
    return "hangs: \(lastRun?.name ?? "the program") has not come to a point for "
      + "\(Double(hang.nanoseconds) / 1e9) s after step \(events.count)\(last); \(cause)"
      + uncontrolledText
  }
}
