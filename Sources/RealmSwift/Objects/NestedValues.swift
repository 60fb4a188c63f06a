// How deep values may be inside of each other where one call is needed for each level: a thread's
// stack has an end, and what goes beyond it ends the process without a word.
internal import Platform

/// Objects that are made of values inside of values, without a Realm.
enum NestedValues {
  /// So deep can values be inside of each other.
  static let depthMax = 1_000

  /// Runs `body` one level deeper; stops where that is too deep.
  static func withOneMore(_ body: () -> Void) {
    let depth = NestingDepth.enter()
    defer { NestingDepth.leave() }
    if depth > depthMax { stopForDepth() }
    requireRoom(depth)
    body()
  }

  private static func stopForDepth() -> Never {
    misuse(
      .argument,
      "Values for an object that belongs to no Realm can be at most \(depthMax) deep inside of each "
        + "other. 'create' takes them in a Realm, however deep they are.")
  }

  /// Stops where another level would not fit on the thread's stack.
  ///
  /// - Parameter depth: how many levels there are.
  static func requireRoom(_ depth: Int) {
    if !StackRoom.isLow { return }
    misuse(
      .argument,
      "Values that are \(depth) deep inside of each other do not fit on the stack of this thread. Use "
        + "a thread with a larger 'stackSize', or fewer levels.")
  }
}
