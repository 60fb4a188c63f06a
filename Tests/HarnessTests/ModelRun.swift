// Results folders for tests of what reads them: runs on the model engine.
import Harness

/// Runs `realm-bench run` with some words on the model engine, whose figures mean nothing.
func runOnModel(_ words: String) throws {
  let surroundings = RunVerb.Surroundings(
    console: CollectedOutput().console(), interruption: { TimedInterruption() },
    makeDriver: { _, _ in ModelEngine(bug: nil) })
  _ = try RunVerb.run(words.split(separator: " ").map(String.init), surroundings)
}
