// The asynchronous writes of a user of the ledger: blocks that wait for the write lock and commits
// that wait for the disk, in what order they have to run, and how often.
internal import Foundation
internal import RaceHunt
internal import RealmSwift

/// One asynchronous write or commit.
final class LaterWrite {
  let number: Int
  let realm: Realm
  let hasCompletion: Bool
  /// Names what can be cancelled: the block that waits, or the commit.
  var identifier: AsyncTransactionId?
  var hasBegun = false
  var isDone = false
  /// Neither its block nor its completion comes any more.
  var isCancelled = false
  /// Its Realm was invalidated before it began.
  var isDropped = false
  /// Transactions with its own, once that is made.
  var total: Int?

  init(_ number: Int, _ realm: Realm, hasCompletion: Bool) {
    self.number = number
    self.realm = realm
    self.hasCompletion = hasCompletion
  }
}

/// Those of one user.
final class LaterWrites {
  private(set) var unfinished: [LaterWrite] = []
  /// Called once there is none.
  var whenDone: (() -> Void)?
  private var last = 0
  private var lastBegun = 0
  private var lastCompleted = 0

  func add(_ realm: Realm, hasCompletion: Bool) -> LaterWrite {
    last += 1
    let write = LaterWrite(last, realm, hasCompletion: hasCompletion)
    unfinished.append(write)
    return write
  }

  /// Nothing more comes of it.
  func remove(_ write: LaterWrite) {
    unfinished.removeAll { $0 === write }
    guard unfinished.isEmpty else { return }
    whenDone?()
    whenDone = nil
  }

  /// A block begins.
  func begins(_ write: LaterWrite, _ who: String) {
    check(!write.hasBegun, "a block of \(who) runs twice")
    check(!write.isCancelled, "a block of \(who) runs after it was cancelled")
    check(!write.isDropped, "a block of \(who) runs in a Realm that was invalidated before")
    check(
      write.number > lastBegun, "block \(write.number) of \(who) begins after block \(lastBegun)")
    write.hasBegun = true
    lastBegun = write.number
  }

  /// A completion is called.
  func completes(_ write: LaterWrite, _ error: (any Error)?, _ who: String) {
    check(!write.isCancelled, "a completion of \(who) is called after it was cancelled")
    check(!write.isDone, "a completion of \(who) is called twice")
    write.isDone = true
    if let error {
      check(write.isDropped, "an asynchronous write of \(who) fails: \(error)")
    } else {
      check(write.hasBegun, "a write of \(who) is completed and has not begun")
    }
    if let total = write.total {
      check(
        total > lastCompleted, "\(who) is told of commit \(total) after commit \(lastCompleted)")
      lastCompleted = total
    }
  }

  /// What has not begun never will.
  func isInvalidated() {
    for write in unfinished where !write.hasBegun {
      write.isDropped = true
      // Nobody is told.
      if !write.hasCompletion { remove(write) }
    }
  }
}

extension LedgerUser {
  /// How a block ends.
  private enum Ending: Int, CaseIterable { case commits, commitsNow, cancels, cancelsItself }

  /// A block that is committed when it returns, if it does not end its transaction itself.
  func writeLater(_ realm: Realm) {
    let ending = Ending(rawValue: random(below: Ending.allCases.count))!
    let write = laterWrites.add(realm, hasCompletion: true)
    write.identifier = realm.writeAsync { [self] in
      run(write) {
        switch ending {
        case .commits: write.total = judge.commits(realm, change, of: number, who)
        case .commitsNow: try commitNow(write)
        case .cancels:
          LedgerState.apply(change, of: number, realm)
          realm.cancelWrite()
        case .cancelsItself:
          LedgerState.apply(change, of: number, realm)
          try realm.cancelAsyncWrite(write.identifier!)
          check(!realm.isInWriteTransaction, "a transaction goes on that was cancelled")
          write.isCancelled = true
          laterWrites.remove(write)
        }
      }
    } onComplete: { [self] in
      complete(write, $0)
    }
  }

  /// A block that has to commit itself.
  func beginLater(_ realm: Realm) {
    let ending = Ending(rawValue: random(below: Ending.allCases.count))!
    let allowsGrouping = random(below: 2) == 0
    let write = laterWrites.add(realm, hasCompletion: false)
    write.identifier = realm.beginAsyncWrite { [self] in
      run(write) {
        switch ending {
        case .commits: return commit(write, allowsGrouping)
        case .commitsNow: try commitNow(write)
        case .cancels: LedgerState.apply(change, of: number, realm)
        case .cancelsItself:
          LedgerState.apply(change, of: number, realm)
          try realm.cancelAsyncWrite(write.identifier!)
        }
        write.isDone = true
        laterWrites.remove(write)
      }
    }
  }

  /// A transaction that begins at once and is durable later.
  func commitLater(_ realm: Realm) {
    let allowsGrouping = random(below: 2) == 0
    mayBeAhead = true
    realm.beginWrite()
    judge.begins(realm, "a transaction of \(who)")
    let write = laterWrites.add(realm, hasCompletion: true)
    write.hasBegun = true
    commit(write, allowsGrouping)
  }

  /// Cancels one that is not done.
  func cancelLater(_ realm: Realm) throws {
    let writes = laterWrites.unfinished.filter { !$0.isDropped }
    guard !writes.isEmpty else { return }
    let write = writes[random(below: writes.count)]
    guard let identifier = write.identifier else { return }
    write.isCancelled = true
    try write.realm.cancelAsyncWrite(identifier)
    laterWrites.remove(write)
  }

  private func run(_ write: LaterWrite, _ body: () throws -> Void) {
    mayBeAhead = true
    laterWrites.begins(write, who)
    judge.begins(write.realm, "block \(write.number) of \(who)")
    do { try body() } catch { check(false, "block \(write.number) of \(who) fails: \(error)") }
  }

  private func commitNow(_ write: LaterWrite) throws {
    let total = judge.commits(write.realm, change, of: number, who)
    try write.realm.commitWrite()
    judge.acknowledge(total)
  }

  private func commit(_ write: LaterWrite, _ allowsGrouping: Bool) {
    let total = judge.commits(write.realm, change, of: number, who)
    write.total = total
    write.identifier = write.realm.commitAsyncWrite(allowGrouping: allowsGrouping) { [self] in
      complete(write, $0)
    }
    let shown = HuntedFile.ledger(write.realm)?.total ?? 0
    check(shown >= total, "\(who) shows \(shown) transactions behind its commit of \(total)")
  }

  private func complete(_ write: LaterWrite, _ error: (any Error)?) {
    laterWrites.completes(write, error, who)
    if error == nil, let total = write.total {
      judge.acknowledge(total)
      let shown = HuntedFile.ledger(write.realm)?.total ?? 0
      check(shown >= total, "\(who) shows \(shown) transactions when \(total) are completed")
    }
    laterWrites.remove(write)
  }
}
