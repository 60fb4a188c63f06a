// How code of other threads gets something to run where a Realm is confined: a block on a queue, a
// job of an actor, a turn of a run loop. A thread that runs no loop has no scheduler.
internal import Dispatch
internal import Foundation
internal import Platform

/// Runs jobs in the place of a confinement.
enum Scheduler: Sendable {
  case queue(DispatchQueue)
  case actor(ActorReference)
  case runLoop(LoopReference)

  /// What runs jobs there; nil for a thread that runs no loop now.
  ///
  /// Called where the Realm is confined.
  init?(_ confinement: Confinement) {
    switch confinement.owner {
    case .anyone: return nil
    case .main: self = .queue(.main)
    case .queue(let queue, _): self = .queue(queue)
    case .actor(let owner): self = .actor(owner.reference)
    case .thread:
      guard let loop = runningRunLoop else { return nil }
      self = .runLoop(LoopReference(address: loop, loop: RunLoop.current))
    }
  }

  /// Runs a job there, after those that were scheduled before.
  ///
  /// When the actor is gone, it runs at once: nothing that was confined to the actor can be in use,
  /// except by its `isolated deinit`, for which asynchronous writes keep nothing that comes later.
  func schedule(_ job: @escaping @Sendable () -> Void) {
    switch self {
    case .queue(let queue): queue.run(later: job)
    case .runLoop(let reference): reference.perform(job)
    case .actor(let reference):
      guard let actor = reference.actor else { return job() }
      Task(executorPreference: reference.executor) { await Self.run(actor, job) }
    }
  }

  private static func run(_ actor: isolated any Actor, _ job: () -> Void) { job() }
}

/// The executor of the jobs that come to actors from elsewhere.
package enum ActorJobs {
  /// What runs the jobs of Realms that are opened in this task; nil for Swift's own threads.
  ///
  /// Tests let them run step by step.
  @TaskLocal package static var executor: (any TaskExecutor)?
}

/// An actor that is not kept alive.
final class ActorReference: Sendable {
  let executor = ActorJobs.executor
  private let address: UnsafeReference
  /// Keeps the memory, which `retainIfAlive` needs.
  private unowned let memory: any Actor

  // @unchecked: an address, to what `memory` keeps; it is only followed through `retainIfAlive`.
  private struct UnsafeReference: @unchecked Sendable {
    let object: Unmanaged<AnyObject>
  }

  init(_ actor: any Actor) {
    address = UnsafeReference(object: Unmanaged.passUnretained(actor as AnyObject))
    memory = actor
  }

  /// The actor, unless its last strong reference is gone.
  var actor: (any Actor)? {
    guard let alive = retainIfAlive(address.object) else { return nil }
    // `memory` is the same object; an `unowned` reference may be followed while that lives.
    return withExtendedLifetime(alive) { memory }
  }
}

/// A run loop and the address by which it is woken.
final class LoopReference: @unchecked Sendable {
  // @unchecked: `perform` and waking are the two things that a run loop allows from any thread.
  private let address: UInt
  private let loop: RunLoop

  init(address: UInt, loop: RunLoop) {
    self.address = address
    self.loop = loop
  }

  func perform(_ job: @escaping @Sendable () -> Void) {
    loop.perform(inModes: [.common], block: job)
    // Otherwise it would sleep on.
    wakeRunLoop(address)
  }
}
