// Help texts. Verbs of later versions are not listed: help shows what works.

/// What `realm-bench` alone prints, and the help of each verb.
package enum Help {
  /// The planned verbs, refused by name.
  package static let laterVerbs = ["hunt", "replay", "compare", "plan", "report"]
  package static let verbs = ["list", "run", "check", "inspect"]

  package static let overview = """
    realm-bench - measure and stress the object database, and check its snapshots while it runs

    Try this: readers and a writer on a new file for three seconds, every snapshot checked

      realm-bench run readers-writer --quick

    Verbs
      list [workloads|invariants|bugs|engines] [--format text|json]
                                   what there is
      run WORKLOAD [flags]         run, check, write a results folder with CSV files
      check PATH ...               walk a .realm file completely and verify it
      inspect FILE.realm           versions, space and tables; also of a file in use

    'realm-bench VERB --help' lists the flags of a verb, 'realm-bench run WORKLOAD --help' those
    of a workload.
    Results go to standard output and files, progress and warnings to standard error.
    Exit codes: 0 all well, 1 failed, 2 threshold missed, 3 invariant violated,
    4 inconclusive (with --strict), 64 usage, 70 internal error, 130 interrupted.

    """

  /// What a workload does, and its flags.
  package static func run(_ workload: WorkloadKind) -> String {
    """
    realm-bench run \(workload.rawValue) [flags]

    \(workload.help)

    Other workloads: \(others(than: workload))

    Flags (defaults in brackets)

    """ + table(RunFlags.known(for: workload)) + """

      Durations take ns us ms s m h; sizes B KiB MiB GiB; rates N/s. A bare number is refused there.

      """
  }

  private static func others(than workload: WorkloadKind) -> String {
    WorkloadKind.allCases.filter { $0 != workload }.map(\.rawValue).joined(separator: ", ")
  }

  /// A verb with few flags.
  package static func short(_ usage: String, _ flags: [FlagDefinition]) -> String {
    usage + "\n\n" + table(flags)
  }

  private static func table(_ flags: [FlagDefinition]) -> String {
    let names = flags.map { "  --\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
    let width = (names.map(\.count).max() ?? 0) + 2
    return zip(names, flags).map { name, flag in
      name + String(repeating: " ", count: width - name.count) + flag.help + "\n"
    }.joined()
  }
}
