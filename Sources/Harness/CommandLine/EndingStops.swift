// A getter of an object cannot throw: on damaged bytes, and where a rule is broken, the engine
// stops the process. In a verb that looks at a file of the user's that is an ending as any other:
// an error in words, and an exit code of the contract.
internal import Glibc
internal import RealmSwift
internal import Storage

/// Ends the process in words where the engine would stop it.
enum EndingStops {
  /// Looks at a file.
  /// - Parameter verb: named where the user has asked for what there is not.
  static func during<Result>(
    _ verb: String, _ console: Console, _ body: () throws -> Result
  ) rethrows -> Result {
    setDamageObserver { error in end(.failed, "error: \(error)", console) }
    setMisuseObserver { misuse in
      // What a file fails with is nobody's misuse.
      if misuse.kind == .storage { end(.failed, "error: \(misuse.message)", console) }
      end(.usage, "\(Tool.current.name): \(verb): \(misuse.message)", console)
    }
    defer {
      setDamageObserver(nil)
      setMisuseObserver(nil)
    }
    return try body()
  }

  private static func end(_ code: ExitCode, _ words: String, _ console: Console) -> Never {
    console.note(words)
    exit(code.rawValue)
  }
}
