// Opening with a callback, for code without `await`.
public import Dispatch
internal import Platform

extension Realm {
  /// An opening that goes on elsewhere.
  public final class AsyncOpenTask: Sendable {
    private let callback: Monitor<Carried<Callback?>>

    fileprivate typealias Callback = (Result<Realm, any Swift.Error>) -> Void

    fileprivate init(_ callback: @escaping Callback) {
      self.callback = Monitor(Carried(callback))
    }

    /// Keeps the callback from being called, unless it was already.
    public func cancel() { _ = take() }

    fileprivate func take() -> Callback? {
      callback.withLock { callback in
        defer { callback = Carried(nil) }
        return callback
      }.value
    }

    fileprivate var isCancelled: Bool { callback.withLock { $0.value == nil } }
  }

  /// Opens a Realm for a queue, with the work on the file, migration and compaction included, done
  /// on another thread.
  ///
  /// Stops when the queue is concurrent, and when the callback belongs to an actor that does not
  /// run there.
  /// - Parameters:
  ///   - configuration: where the Realm is and what it holds.
  ///   - callbackQueue: the serial queue to which the Realm is confined.
  ///   - callback: called once on the queue, with the Realm or a `Realm.Error`, unless cancelled
  ///     before.
  /// - Returns: what cancels the callback.
  @discardableResult
  public static func asyncOpen(
    configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
    callback: @escaping @isolated(any) (Result<Realm, any Swift.Error>) -> Void
  ) -> AsyncOpenTask {
    let task = AsyncOpenTask(PlacedBlock(callback).call)
    PreparedFile.start(configuration) { prepared in
      if task.isCancelled { return }
      callbackQueue.run(later: {
        guard let callback = task.take() else { return }
        callback(
          prepared.flatMap { file in
            defer { file.letGo() }
            return Result { try Realm(configuration: configuration, queue: callbackQueue) }
          })
      })
    }
    return task
  }
}
