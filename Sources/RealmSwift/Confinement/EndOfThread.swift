// What has to be ended when a thread ends to which it is confined: nothing of it will run there any
// more, and nobody else may.
internal import Platform

/// The end of threads that have Realms of their own.
enum EndOfThread {
  /// Makes the end of the calling thread known here; false when it will not be.
  static func watch() -> Bool {
    // Only the first body of a thread is called, so this is the only one of the module.
    ThreadEnd.notify { thread in
      for realm in RealmCache.realms(ofThread: thread) { realm.asynchronousWrites?.endWithThread() }
      LeftTransactions.end(onThread: thread)
    }
  }
}
