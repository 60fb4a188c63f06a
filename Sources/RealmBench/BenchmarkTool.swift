// The entry of a user's own tool: all verbs of realm-bench, with the user's workloads beside those
// that it has.
internal import Foundation
internal import Harness

/// A program that measures workloads of its own.
///
/// It has every verb of realm-bench (`list`, `run`, `compare`, `report`, `check`, `inspect`, ...),
/// its flags, files and exit codes; `run NAME` runs one of its own workloads.
///
/// ```swift
/// @main
/// struct ShopBench: BenchmarkTool {
///   static let workloads: [any Workload.Type] = [Shop.self]
/// }
/// ```
public protocol BenchmarkTool {
  /// Its own workloads, in the order in which they are listed.
  static var workloads: [any Workload.Type] { get }
  /// What it is called in messages; by default as its executable.
  static var name: String { get }
}

extension BenchmarkTool {
  /// The name of the executable.
  public static var name: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "realm-bench"
  }

  /// Runs the verb that the command line asks for, and ends the process with its exit code.
  public static func main() {
    let (name, workloads) = (name, workloads)
    exit(
      Harness.RealmBench.runProcess {
        for workload in workloads { try refuseMisuse(workload) }
        return Tool(
          name: name, executable: CommandLine.arguments.first,
          workloads: workloads.map { describe($0) })
      })
  }
}

private func describe<W: Workload>(_ workload: W.Type) -> any WorkloadDescription.Type {
  OwnDescription<W>.self
}

private func refuseMisuse<W: Workload>(_ workload: W.Type) throws {
  try OwnNames<W>.refuseMisuse()
}
