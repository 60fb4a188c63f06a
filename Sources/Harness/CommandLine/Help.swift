// Help texts, made of what verbs and workloads say of themselves.

/// What `realm-bench` alone prints, and the help of each verb.
package enum Help {
  package static var verbs: [String] { Verbs.all.map { $0.name } }

  package static let exitCodes = """
    Exit codes: 0 all well, 1 failed, 2 regression or threshold missed, 3 invariant violated,
    4 inconclusive (with --strict, or when the end could not be checked), 5 no such baseline,
    64 usage, 70 internal error, 130 interrupted.
    """

  package static var overview: String {
    """
    \(Tool.current.name) - measure and stress the object database, and check its snapshots while it runs

    Try this: \(example)

      \(Tool.current.name) run \(WorkloadKind.allCases[0].rawValue) --quick

    Verbs

    """ + verbTable() + Tool.named(footer) + exitCodes + "\n\n"
  }

  /// What the example does.
  private static var example: String {
    Tool.current.workloads.first?.summary
      ?? "readers and a writer on a new file for three seconds, every snapshot checked"
  }

  private static let footer = """

      'realm-bench VERB --help' lists the flags of a verb, 'realm-bench run WORKLOAD --help' those
      of a workload.
      Results go to standard output and files, progress and warnings to standard error.


    """

  private static func verbTable() -> String {
    let heads = Verbs.all.map { "  \($0.name) \($0.arguments)" }
    let column = 34
    return zip(heads, Verbs.all).map { head, verb in
      // What is longer has its text on the next line.
      let space =
        head.count + 2 <= column
        ? String(repeating: " ", count: column - head.count)
        : "\n" + String(repeating: " ", count: column)
      return head + space + verb.summary + "\n"
    }.joined()
  }

  /// What a run counts beside times.
  static let counted = """
    Beside times, summary.csv has what is counted: syncs, bytes written and system calls on the
    engine's files (all that it opens, reads, writes, syncs, locks, measures or maps, by all threads;
    not waits between threads, nor pages that come by a map) a commit; allocations an operation
    (calls of malloc, calloc, realloc and the aligned forms by the thread that does it), and its
    instructions in user mode where the processor's counter can be read. What nobody counts is empty.
    """

  /// What a workload does, and its flags.
  package static func run(_ workload: WorkloadKind) -> String {
    """
    \(Tool.current.name) run \(workload.rawValue) [flags]

    \(Tool.named(workload.facts.help))

    Other workloads: \(others(than: workload))

    Flags (defaults in brackets)

    """ + table(RunFlags.known(for: workload)) + """

      Durations are written as 500ms, 30s, 1m30s or 2h, sizes as 100B or 64KiB, rates as 2000/s or
      60/m; a bare number is refused there. Counts are 10000, 10k, 1e6 or 1_000_000.

      \(counted)

      """
  }

  private static func others(than workload: WorkloadKind) -> String {
    WorkloadKind.allCases.filter { $0 != workload }.map(\.rawValue).joined(separator: ", ")
  }

  /// A verb with few flags.
  package static func short(_ usage: String, _ flags: [FlagDefinition]) -> String {
    Tool.named(usage + "\n\n" + table(flags))
  }

  private static func table(_ flags: [FlagDefinition]) -> String {
    let names = flags.map { "  --\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
    let width = (names.map(\.count).max() ?? 0) + 2
    return zip(names, flags).map { name, flag in
      name + String(repeating: " ", count: width - name.count) + flag.help + "\n"
    }.joined()
  }
}
