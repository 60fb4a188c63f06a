// Blocks of clients that are called later: to which actor they belong, and the check that they are
// called there. A client's compiler lets a block of the main actor be given to any function, and
// leaves the check to that function's module; this is it. Nothing here knows what the blocks are
// for.
internal import Platform

/// The actor to which a client's block belongs.
struct BlockPlace: Sendable {
  private let executor: ExecutorIdentity
  private let isMain: Bool
  private let type: any Actor.Type

  /// - Parameter actor: the block's isolation; nil gives nil.
  init?(_ actor: (any Actor)?) {
    guard let actor else { return nil }
    executor = ExecutorIdentity(actor.unownedExecutor)
    isMain = actor is MainActor
    type = Swift.type(of: actor)
  }

  /// Stops unless the actor runs what runs now.
  ///
  /// - Complexity: some nanoseconds.
  @inline(__always)
  func requireHere() {
    let isHere = isMain ? Confinement.isMain : executor.isCurrent
    if _slowPath(!isHere) { stop() }
  }

  @inline(never)
  private func stop() -> Never {
    let name = isMain ? "the main actor" : "the actor \(type)"
    let offender = Confinement.placeDescription
    let remedy =
      isMain
      ? "Use the main queue (`on: .main`) or the main actor (`on: MainActor.shared`) there"
      : "Use the form of the function that takes an actor (`on: self`)"
    misuse(
      .confinement,
      "A block that belongs to \(name) was about to run on the \(offender), where what it uses is not "
        + "safe. \(remedy); or, if the block uses nothing of the actor, say so: "
        + "`{ @Sendable ... in }`.", owner: name, offender: offender)
  }
}

/// A client's block that gets one value, as a plain function, and where it belongs.
///
/// A block belongs to an actor when it was formed on one, as closures in the methods of a view
/// model of the main actor are.
struct PlacedBlock<Value> {
  let place: BlockPlace?
  /// Calls the block; stops where it does not belong.
  let call: (Value) -> Void

  /// A block that is called in a place that its caller cannot see.
  init(_ block: @escaping @isolated(any) (Value) -> Void) {
    // Sound: isolation is a matter of types, the functions are called alike; and it is checked.
    self.init(unsafeBitCast(block, to: ((Value) -> Void).self), BlockPlace(block.isolation))
  }

  private init(_ plain: @escaping (Value) -> Void, _ place: BlockPlace?) {
    self.place = place
    guard let place else {
      call = plain
      return
    }
    call = { value in
      place.requireHere()
      plain(value)
    }
  }

  /// The block of an actor's observer, which is called only where the actor runs.
  ///
  /// It does not keep the actor alive, which may have the token in one of its properties.
  init<A: Actor>(_ actor: A, _ block: @escaping @Sendable (isolated A, Value) -> Void) {
    // Sound: isolation is a matter of types, the functions are called alike. Observations are
    // called only in their Realm's place, which is the actor.
    let plain = unsafeBitCast(block, to: ((A, Value) -> Void).self)
    let reference = ActorReference(actor)
    place = nil
    call = { value in
      // The actor runs this.
      if let actor = reference.actor { plain(actor as! A, value) }
    }
  }
}

extension PlacedBlock where Value == (Realm.Notification, Realm) {
  /// The block of a Realm's observer.
  init(realmBlock block: @escaping @isolated(any) (Realm.Notification, Realm) -> Void) {
    // Sound as above.
    let plain = unsafeBitCast(block, to: ((Realm.Notification, Realm) -> Void).self)
    self.init({ plain($0.0, $0.1) }, BlockPlace(block.isolation))
  }
}
