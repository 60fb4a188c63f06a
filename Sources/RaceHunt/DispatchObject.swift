// What Dispatch's types have in common for explored programs.

/// A queue, group, semaphore or source: `Dispatch.DispatchObject`, by its names.
open class DispatchObject: @unchecked Sendable {
  // @unchecked: it has nothing; those that are one say why they are.

  init() {}

  /// Has its work run on another queue, too; nothing for what has no work.
  public func setTarget(queue: DispatchQueue?) {}
  /// Begins no further work until `resume`; nothing for what has no work.
  public func suspend() {}
  /// Goes on after `suspend`; nothing for what has no work.
  public func resume() {}
  /// Begins the work of what was made inactive; nothing for what has no work.
  public func activate() {}
}

extension Run {
  /// The last owner of an object gives it up in a state in which Dispatch would end the process.
  func noteRelease(_ strand: Strand, _ name: String, _ state: String) {
    violate(
      .check,
      "\(name) is \(state) when \(strand.name) releases it, at which Dispatch ends the process")
  }
}
