// Changes as an asynchronous sequence: `for await change in results.changes`. The loop is only
// woken when there is something to tell, and comes for it itself: between the two the Realm may
// have moved again, and what a change says and what its collection shows always agree.
internal import Platform

/// What happens to a collection or an object, one change after the other, for `for await`.
///
/// The loop has to run on the actor to which the Realm belongs. It ends when its task is cancelled,
/// when the subject is deleted and when its Realm is invalidated. While the body of the loop runs,
/// or waits for something else, further changes are gathered to one; the file keeps the version of
/// the last one until then.
public struct ChangeSequence<Change>: AsyncSequence {
  /// What each round of the loop gets.
  public typealias Element = Change
  /// The loop never throws.
  public typealias Failure = Never

  /// Begins an observation, where the subject's Realm may be used.
  let observe: (@escaping (Change) -> Void) -> NotificationToken

  /// Goes through the changes from the subject's current state on.
  public func makeAsyncIterator() -> Iterator { Iterator(ChangeWaiting(observe)) }

  /// Waits for one change after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private let waiting: ChangeWaiting<Change>

    init(_ waiting: ChangeWaiting<Change>) { self.waiting = waiting }

    /// The next change; stops, since it can only be used on an actor.
    public mutating func next() async -> Change? { await next(isolation: nil) }

    /// The next change; nil at the end.
    ///
    /// - Parameter actor: where the loop runs, and the Realm belongs.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
      guard actor != nil else {
        misuse(
          .confinement,
          "Changes can only be awaited on the actor to which the Realm belongs: run the loop in a "
            + "function or a task of that actor.")
      }
      return await waiting.next(actor)
    }
  }
}

@available(*, unavailable)
extension ChangeSequence: Sendable {}

@available(*, unavailable)
extension ChangeSequence.Iterator: Sendable {}

/// One loop over changes; used in its Realm's place only.
final class ChangeWaiting<Change> {
  private var observe: ((@escaping (Change) -> Void) -> NotificationToken)?
  private var token: NotificationToken?
  /// The change for which the loop has come, until it gets it.
  private var change: Change?
  /// Comes when there is a change, with the end of the observation, and when the task is cancelled.
  private let signal = TaskSignal()

  init(_ observe: @escaping (@escaping (Change) -> Void) -> NotificationToken) {
    self.observe = observe
  }

  func next(_ isolation: isolated (any Actor)?) async -> Change? {
    if Task.isCancelled { return end() }
    if let observe { begin(observe) }
    while change == nil, let slot = token?.slot, !slot.isEnded {
      slot.awaitChange(signal)
      await withTaskCancellationHandler {
        await signal.wait(isolation)
      } onCancel: { [signal] in
        signal.send()
      }
      if Task.isCancelled { return end() }
      slot.collect()
    }
    guard let next = change else { return end() }
    change = nil
    return next
  }

  private func begin(_ observe: (@escaping (Change) -> Void) -> NotificationToken) {
    self.observe = nil
    let token = observe { [weak self] change in self?.change = change }
    token.slot.notifyOfEnd(signal)
    self.token = token
  }

  private func end() -> Change? {
    observe = nil
    change = nil
    token = nil
    return nil
  }
}

// MARK: - What has changes

extension _ObservedCollection {
  /// The changes of the collection, the first being the collection as it is, for `for await`.
  ///
  /// They are those that `observe` tells. See `ChangeSequence`.
  public var changes: ChangeSequence<_Change> {
    ChangeSequence { observe(on: nil, $0) }
  }
}

extension ThreadConfined where Self: ObjectBase {
  /// The changes of the object, its deletion last, for `for await`.
  ///
  /// They are those that `observe` tells from the beginning of the loop on. See `ChangeSequence`.
  public var changes: ChangeSequence<ObjectChange<Self>> {
    ChangeSequence { self.observe(on: nil, $0) }
  }
}

extension ProjectionObservable {
  /// The changes of the projected properties, the deletion of the object last, for `for await`.
  public var changes: ChangeSequence<ObjectChange<Self>> {
    ChangeSequence { self.observe(on: nil, $0) }
  }
}
