// How a live Realm is reached from elsewhere: jobs for its place, news of newer versions, and
// whether it follows them by itself.
internal import Storage

extension ConfinedRealm {
  /// How other threads reach the Realm; nil on a thread that runs no loop now.
  func findMailbox() -> RealmMailbox? {
    if let mailbox { return mailbox }
    // The loop may have been started since the Realm was opened.
    guard !isFrozen, let scheduler = Scheduler(confinement) else { return nil }
    installMailbox(scheduler)
    return mailbox
  }

  /// Begins to follow newer versions if the Realm's thread runs a loop, which it may not have done
  /// when the Realm was opened.
  @inline(never)
  func lookForLoop() {
    guard case .thread = confinement.owner, confinement.isHere else { return }
    _ = findMailbox()
  }

  func installMailbox(_ scheduler: Scheduler) {
    let mailbox = RealmMailbox(scheduler, self)
    self.mailbox = mailbox
    noteStanding()
    store.addListener(mailbox)
    // What was published before anybody listened.
    mailbox.versionWasPublished(store.newestVersion)
  }

  func noteStanding() {
    guard let mailbox else { return }
    let listens = followsVersions || observers?.observesRealm == true
    mailbox.note(standing: listens ? snapshot?.version : nil)
  }

  private var followsVersions: Bool { chosenAutorefresh ?? (mailbox != nil) }

  /// Whether the Realm moves to newer versions by itself.
  var autorefresh: Bool {
    get {
      check()
      if isFrozen { return false }
      return chosenAutorefresh ?? (findMailbox() != nil)
    }
    set {
      check()
      if isFrozen {
        if newValue { misuse(.frozen, "Auto-refresh cannot be enabled for frozen Realms.") }
        return
      }
      chosenAutorefresh = newValue
      let mailbox = findMailbox()
      noteStanding()
      // What was published while it did not follow.
      if newValue { mailbox?.versionWasPublished(store.newestVersion) }
    }
  }

  /// Follows to the newest version, at the start of a job in the Realm's place.
  func refreshByItself() {
    guard followsVersions else {
      observers?.newerVersionWasPublished()
      return
    }
    // An error is met again, and told, by whoever uses the Realm next.
    _ = try? refresh()
  }

  /// The Realm's asynchronous writes; nil on a thread that runs no loop now.
  func findAsynchronousWrites() -> AsynchronousWrites? {
    if let asynchronousWrites { return asynchronousWrites }
    guard let mailbox = findMailbox() else { return nil }
    // Where nobody will learn of the thread's end, what waits then is left.
    if case .thread = confinement.owner { _ = EndOfThread.watch() }
    let writes = AsynchronousWrites(self, mailbox)
    asynchronousWrites = writes
    return writes
  }
}
