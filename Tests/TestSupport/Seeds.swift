// Seeds of random tests: fixed unless REALM_SEED names one, and in every failure's text.
internal import Glibc
package import Platform
internal import Testing

/// How much of a long random test is run: all of it in an optimized build, which the deep checks
/// test, and `debug` in a debug build, which is built and run for every change.
package func amount(_ all: Int, debug: Int) -> Int { _isDebugAssertConfiguration() ? debug : all }

/// Those of some seeds that are run: all of them in an optimized build, where the deep checks look,
/// and where REALM_ALL_SEEDS is set; in a debug build every second one.
///
/// The others have their turn with the next commit: REALM_TURN is its number.
private func share(of seeds: [UInt64]) -> [UInt64] {
  guard _isDebugAssertConfiguration(), getenv("REALM_ALL_SEEDS") == nil, seeds.count > 1 else {
    return seeds
  }
  let turn = getenv("REALM_TURN").flatMap { Int(String(cString: $0)) } ?? 0
  return seeds.indices.filter { ($0 + turn) % 2 == 0 }.map { seeds[$0] }
}

/// Seeds of a test that has a case for each: in a debug build every second one, by turns.
package func seedsInTurn(_ seeds: ClosedRange<UInt64>) -> [UInt64] { share(of: Array(seeds)) }

/// The seed of this run: REALM_SEED if it is set, else `standard`.
package func testSeed(_ standard: UInt64 = 1) -> UInt64 { requestedSeed() ?? standard }

/// The seeds from 1 through `count`, or REALM_SEED alone.
package func testSeeds(_ count: Int) -> ClosedRange<UInt64> {
  requestedSeed().map { $0...$0 } ?? 1...UInt64(count)
}

/// Runs `body` with the generators of `count` seeds, or of REALM_SEED alone when that is set; in a
/// debug build of every second one, by turns.
///
/// What fails inside, expectations and thrown errors alike, carries the seed and the command that
/// repeats it. Call it from a test; the first seed that throws is the last one run.
package func withSeeds(
  _ count: Int = 1, first: UInt64 = 1,
  _ body: @escaping @Sendable (inout RandomGenerator) async throws -> Void
) async {
  let seeds = requestedSeed().map { [$0] } ?? share(of: (0..<UInt64(count)).map { first &+ $0 })
  for seed in seeds {
    let text = "seed \(seed); repeat by: \(repeatCommand(seed))"
    let failed = await labelled(text) {
      var random = RandomGenerator(seed: seed)
      try await body(&random)
    }
    if failed { return }
  }
}

/// Runs `body` with every issue in it labelled.
///
/// True when it threw.
private func labelled(_ text: String, _ body: @escaping @Sendable () async throws -> Void) async
  -> Bool
{
  let marked = Monitor(false)
  let run: @Sendable () async -> Void = {
    do {
      try await body()
    } catch {
      marked.withLock { $0 = true }
      // A failed #require has recorded its issue before it threw.
      if !(error is ExpectationFailedError) { Issue.record(error) }
    }
  }
  guard let test = Test.current else {
    await run()
    return marked.withLock { $0 }
  }
  let trait: IssueHandlingTrait = .compactMapIssues { issue in
    var issue = issue
    issue.comments.append(Comment(rawValue: text))
    return issue
  }
  do {
    try await trait.provideScope(for: test, testCase: Test.Case.current, performing: run)
  } catch {
    Issue.record(error)
  }
  return marked.withLock { $0 }
}

private func requestedSeed() -> UInt64? {
  guard let text = getenv("REALM_SEED").map({ String(cString: $0) }), !text.isEmpty else {
    return nil
  }
  guard let seed = UInt64(text) else { fatalError("REALM_SEED is not a number: '\(text)'") }
  return seed
}

/// The command that runs the current test again with a seed.
package func repeatCommand(_ seed: UInt64) -> String {
  // A test's identifier ends in (arguments:)/File.swift:line:column; the filter, a regular
  // expression, wants what stands before.
  let name = Test.current.map { test in
    let parts = String(describing: test.id).split(separator: "/")
    return parts.filter { !$0.contains(".swift:") }.suffix(2).joined(separator: "/")
      .prefix { $0 != "(" }
  }
  return "REALM_SEED=\(seed) scripts/test --filter '\(name ?? ".")'"
}
