// Globals and static properties, which Swift makes when they are first used, once a process. What
// making one does is no step: only the first schedule would have it.
internal import CRaceHunt

/// What a run was when a strand began to make a global.
struct GlobalInTheMaking {
  let predicate: UnsafeMutableRawPointer
  fileprivate let steps: Int
  fileprivate let resources: Int
  fileprivate let random: Random
  fileprivate let systemRandom: Random
  /// How many numbers the program had drawn.
  fileprivate let drawn: Int
  fileprivate let now: UInt64
  /// How often it has let others go first.
  fileprivate var yields = 0
}

extension Strand {
  /// Whether a point is none, because the strand makes a global.
  ///
  /// Who spins for long there waits for others.
  func passesOver(isYield: Bool) -> Bool {
    guard let last = globals.indices.last else { return false }
    if isYield { globals[last].yields += 1 }
    return globals[last].yields <= 100
  }
}

extension Run {
  /// Waits while another strand makes the global, and makes it.
  func beginGlobal(_ strand: Strand, _ predicate: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: predicate)
    while let maker = globalMakers[address] {
      let global = resource(address, .global, name: nil)
      global.owner = maker
      if maker === strand {
        stop(.deadlock, "deadlock: \(strand.name) needs \(global.name), which it makes")
      }
      record(strand, .waits, global.number)
      global.waiters.append(strand)
      // What it does next was known before, and is not its wait.
      let pending = strand.pending
      strand.pending = .unknown
      block(strand, for: .mutex(global))
      strand.pending = pending
    }
    globalMakers[address] = strand
    strand.globals.append(
      GlobalInTheMaking(
        predicate: predicate, steps: steps, resources: resourceList.count, random: random,
        systemRandom: systemRandom, drawn: drawn.count, now: now))
  }

  func endGlobal(_ strand: Strand, _ predicate: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: predicate)
    globalMakers[address] = nil
    if let global = resources[address], global.kind == .global { wakeAll(global) }
    guard let before = strand.globals.popLast() else { return }
    // Others have gone on meanwhile, and what they did is to stay.
    if before.steps != steps {
      hasMadeGlobalInSteps = true
      return
    }
    forgetResources(since: before.resources)
    strand.held.removeAll { $0 >= before.resources }
    strand.released.removeAll { $0 >= before.resources }
    strand.changed.removeAll { $0 >= before.resources }
    random = before.random
    systemRandom = before.systemRandom
    drawn.removeLast(drawn.count - before.drawn)
    setTime(before.now)
  }

  /// Those whose making will never go on are made anew by the next one.
  func forgetGlobals() {
    for address in globalMakers.keys {
      if let predicate = UnsafeMutableRawPointer(bitPattern: address) {
        race_hunt_forget_once(predicate)
      }
    }
    globalMakers = [:]
  }
}
