// What else the machine did during a run: time that the hypervisor took, pressure, involuntary
// switches, the processors' frequency. Figures of a disturbed run say less than they seem to.
internal import Foundation
internal import Glibc
internal import Platform

/// What disturbed a run, for run.json; nil where the kernel does not tell.
package struct MachineDisturbance: Codable, Equatable, Sendable {
  /// Share of all processors' time that the hypervisor gave to others, in percent.
  package var stealPercent: Double?
  /// Share of the time in which some task of the machine waited for a processor, in percent.
  package var processorPressurePercent: Double?
  /// The same for the disk.
  package var diskPressurePercent: Double?
  /// How often a thread of this process was made to wait for others, a second.
  package var involuntarySwitchesPerS: Double?
  /// Share of all processors' time that other processes took, in percent; nil of a run that takes
  /// turns with another one.
  package var othersPercent: Double?
  /// Share of the stretches of time in which the container's limit of processors stopped its
  /// processes, in percent; nil without such a limit, and in runs of versions that did not record
  /// it.
  package var throttledPercent: Double?
  package var frequencyMinMhz: Double?
  package var frequencyMaxMhz: Double?

  package init() {}
}

/// Takes the kernel's counters when it is made; `disturbance` tells what has come since.
package struct MachineWatch: Sendable {
  private struct Counters: Sendable {
    var clock = MonotonicClock().nanoseconds()
    /// In ticks of all processors: everything, given to others by the hypervisor, idle.
    var total: Double?
    var steal: Double?
    var idle: Double?
    /// In microseconds.
    var processorPressure: Double?
    var diskPressure: Double?
    /// Stretches of time of the container's limit, and those in which it stopped the processes.
    var periods: Double?
    var throttled: Double?
    var involuntarySwitches: Int
    var ownSeconds: Double

    init() {
      let line = textOfFile("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("cpu ") }
      let ticks = (line?.split(separator: " ").dropFirst() ?? []).compactMap { Double($0) }
      if ticks.count >= 8 {
        // user nice system idle iowait irq softirq steal; what guests take is in user already.
        total = ticks.prefix(8).reduce(0, +)
        idle = ticks[3] + ticks[4]
        steal = ticks[7]
      }
      processorPressure = Self.pressure("cpu")
      diskPressure = Self.pressure("io")
      if let throttling = ControlGroup.throttling() {
        (periods, throttled) = (Double(throttling.periods), Double(throttling.throttled))
      }
      (involuntarySwitches, ownSeconds) = (0, 0)
      // Processes that this one has started are no others; those that have ended are counted.
      for who in [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue] {
        var usage = rusage()
        getrusage(__rusage_who_t(who), &usage)
        involuntarySwitches += usage.ru_nivcsw
        ownSeconds +=
          Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
          + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
      }
    }

    private static func pressure(_ resource: String) -> Double? {
      let text = textOfFile("/proc/pressure/" + resource)
      let line = text?.split(separator: "\n").first { $0.hasPrefix("some ") }
      let word = line?.split(separator: " ").first { $0.hasPrefix("total=") }
      return word.flatMap { Double($0.dropFirst("total=".count)) }
    }
  }

  private let before = Counters()

  package init() {}

  /// What has come since this watch was made.
  package func disturbance() -> MachineDisturbance {
    let after = Counters()
    let seconds = max(Double(after.clock - before.clock) / 1e9, 1e-9)
    var found = MachineDisturbance()
    func difference(_ counter: KeyPath<Counters, Double?>) -> Double? {
      guard let before = before[keyPath: counter], let after = after[keyPath: counter] else {
        return nil
      }
      return after - before
    }
    if let total = difference(\.total), total > 0 {
      found.stealPercent = difference(\.steal).map { rounded(100 * $0 / total) }
      if !TurnTaking.isTaken, let idle = difference(\.idle), let steal = difference(\.steal) {
        let tick = 1 / Double(sysconf(Int32(_SC_CLK_TCK)))
        let own = (after.ownSeconds - before.ownSeconds) / tick
        found.othersPercent = rounded(max(0, 100 * (total - idle - steal - own) / total))
      }
    }
    if let periods = difference(\.periods), periods > 0 {
      found.throttledPercent = difference(\.throttled).map { rounded(max(0, 100 * $0 / periods)) }
    }
    found.processorPressurePercent = difference(\.processorPressure).map {
      rounded($0 / 1e4 / seconds)
    }
    found.diskPressurePercent = difference(\.diskPressure).map { rounded($0 / 1e4 / seconds) }
    found.involuntarySwitchesPerS = rounded(
      Double(after.involuntarySwitches - before.involuntarySwitches) / seconds)
    let frequencies =
      (textOfFile("/proc/cpuinfo")?.split(separator: "\n") ?? [])
      .filter { $0.hasPrefix("cpu MHz") }
      .compactMap { $0.split(separator: ":").last }
      .compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
    found.frequencyMinMhz = frequencies.min()
    found.frequencyMaxMhz = frequencies.max()
    return found
  }

  private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
