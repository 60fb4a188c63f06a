// What of a machine times depend on whatever runs on it: whether two runs are of one machine, as
// far as capacity goes.
internal import Foundation

/// Processor, cores and memory.
package struct Hardware: Hashable, Sendable {
  package var cpu: String?
  package var cores: Int
  /// Of the container, in cores.
  package var processorLimit: Double?
  package var memoryBytes: UInt64

  package static func here() -> Hardware {
    let line = textOfFile("/proc/cpuinfo")?.split(separator: "\n")
      .first { $0.hasPrefix("model name") }
    return Hardware(
      cpu: line?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces),
      cores: ProcessInfo.processInfo.activeProcessorCount,
      processorLimit: ControlGroup.processorLimit(),
      memoryBytes: ProcessInfo.processInfo.physicalMemory)
  }

  /// Cores whose time there is.
  package var usableCores: Double { Processors.limited(Double(cores), to: processorLimit) }

  /// The memory by GiB, since what a kernel keeps of it for itself varies.
  package var words: String {
    "\(cpu ?? "unknown processor"), \(Processors.text(of: usableCores)) cores, "
      + "\((memoryBytes + (1 << 29)) >> 30) GiB"
  }
}

extension EnvironmentRecord {
  /// What times of the run depend on.
  package var hardware: Hardware {
    Hardware(
      cpu: cpu, cores: cores, processorLimit: cgroupCpuLimitCores, memoryBytes: memoryBytes)
  }
}
