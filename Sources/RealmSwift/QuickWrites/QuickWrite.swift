// The rules of a write without a transaction block: where it goes, and when it is left out.
internal import Storage

/// Changes a value of a Realm: in the write transaction that is open, or else in one of its own.
///
/// A frozen value is thawed; one that belongs to no Realm is just changed. What was deleted
/// meanwhile is left alone, with a message in the log. Stops where the value may not be used, on a
/// read-only Realm, and when the changes cannot be stored.
/// - Parameters:
///   - isNeeded: whether there is anything to change in the live value. It is asked once more when
///     the transaction has brought a newer version.
///   - body: changes the live value.
/// - Returns: whether it was changed.
@discardableResult
func quickWrite<Value: ThreadConfined>(
  to value: Value, if isNeeded: (Value) -> Bool = { _ in true }, _ body: (Value) -> Void
) -> Bool {
  guard let source = value.realm?.confined else {
    guard isNeeded(value) else { return false }
    body(value)
    return true
  }
  source.check()
  guard let live = source.isFrozen ? value.thaw() : value, !live.isInvalidated,
    let realm = live.realm?.confined
  else {
    logDeleted(Value.self)
    return false
  }
  if realm.writing != nil {
    guard isNeeded(live) else { return false }
    body(live)
    return true
  }
  realm.requireWritable()
  guard isNeeded(live) else { return false }
  do {
    let known = realm.snapshot?.version
    try realm.beginWrite()
    if realm.snapshot?.version != known {
      if live.isInvalidated {
        realm.cancelWrite()
        logDeleted(Value.self)
        return false
      }
      guard isNeeded(live) else {
        realm.cancelWrite()
        return false
      }
    }
    body(live)
    try realm.commitWrite()
    return true
  } catch {
    misuse(
      .storage,
      "A quick write failed: \(error). Write in a `realm.write { }` of your own to go on after that."
    )
  }
}

/// Says that a write was left out.
func logDeleted<Value>(_ type: Value.Type) {
  Logger.shared.log(
    .warn, "A quick write was left out: the \(type) to change was deleted meanwhile.")
}

/// The live form of a value that is about to be put into a Realm, if it is a frozen one of that
/// Realm's file.
///
/// Everything else stays what it is, and is refused where that is written.
func liveForm<Value>(of value: Value, for realm: Realm?) -> Value {
  if PlainType.contains(Value.self) { return value }
  guard let target = realm?.confined, let confined = value as? any ThreadConfined else {
    return value
  }
  func live<Confined: ThreadConfined>(_ confined: Confined) -> Confined? {
    guard let source = confined.realm?.confined, source.isFrozen, source.store === target.store
    else { return confined }
    return target.receiving { confined.thaw() }
  }
  guard let live = live(confined) else { return value }
  return live as! Value
}
