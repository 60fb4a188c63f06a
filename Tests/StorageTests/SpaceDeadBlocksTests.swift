// DeadBlocks against its definition: a dead block may be reused exactly when no pin lies between
// its birth and its death. Commits, group commits, pins taken and released in every order, and
// collecting in small steps between them.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct SpaceDeadBlocksTests {
  enum Order: Sendable, CaseIterable { case random, oldestFirst, newestFirst }

  @Test(arguments: Order.allCases) func agreesWithItsDefinition(order: Order) async {
    await withSeeds(6) { random in
      var model = Model()
      let pinsMax = [1, 3, 100][Int.random(in: 0..<3, using: &random)]
      for _ in 0..<600 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2, 3: model.commit(kills: Int.random(in: 0...8, using: &random), &random)
        case 4: model.makeDurable()
        case 5, 6: if model.references < pinsMax { model.pin(&random) }
        case 7: model.unpin(order, &random)
        default: try model.collect(maximum: Int.random(in: 1...20, using: &random))
        }
        if Int.random(in: 0..<20, using: &random) == 0 { try model.compare() }
      }
      model.makeDurable()
      while model.references > 0 {
        model.unpin(order, &random)
        if Bool.random(using: &random) { try model.collect(maximum: 7) }
      }
      try model.collectAll()
      try model.compare()
      #expect(model.dead.count == 0 && model.dead.heldBytes == 0)
    }
  }

  @Test(arguments: Order.allCases) func tenThousandPins(order: Order) async {
    await withSeeds { random in
      var model = Model()
      for _ in 0..<10_000 {
        model.pin(&random, newest: true)
        model.commit(kills: 3, &random)
        model.makeDurable()
      }
      try model.compare()
      for step in 0..<10_000 {
        model.unpin(order, &random)
        if step % 10 == 0 { try model.collect(maximum: 40) }
        if step % 2500 == 0 {
          try model.collectAll()
          try model.compare()
        }
      }
      try model.collectAll()
      try model.compare()
      #expect(model.dead.count == 0)
    }
  }

  /// A heap is a list here: every block dies in the order of its birth, or in the reverse order.
  @Test(arguments: [true, false]) func longChains(ascending: Bool) throws {
    var dead = DeadBlocks()
    let count = 200_000
    dead.addPin(Version(UInt64(count)))
    for index in 0..<count {
      let birth = Version(UInt64(ascending ? index : count - 1 - index))
      let run = Run(offset: UInt64(index) * 16, length: 16)
      let isKept = dead.insert(run: run, birth: birth, death: Version(UInt64(count) + 1))
      try #require(isKept)
    }
    dead.removePin(Version(UInt64(count)))
    var freed = 0
    while dead.collect(maximum: 4096, { _ in freed += 1 }) {
      try #require(freed % 4096 == 0)
    }
    #expect(freed == count)
    #expect(dead.count == 0)
  }

  @Test func aPinThatComesBackBeforeCollectingKeepsItsBlocks() {
    var dead = DeadBlocks()
    dead.addPin(Version(5))
    let isKept = dead.insert(
      run: Run(offset: 0, length: 16), birth: Version(3), death: Version(6))
    #expect(isKept)
    dead.removePin(Version(5))
    dead.addPin(Version(5))
    let hasMore = dead.collect(maximum: 10) { _ in Issue.record("freed under a pin") }
    #expect(!hasMore)
    #expect(dead.count == 1)
    #expect(dead.checkInvariants(pins: [Version(5)]) == [])
    #expect(dead.checkInvariants(pins: []) != [])
  }
}

extension SpaceDeadBlocksTests {
  struct Block: Hashable {
    let run: Run
    let birth: Version
    let death: Version
  }

  /// A file without trees: blocks are born and die, versions are pinned.
  struct Model {
    var dead = DeadBlocks()
    var newest = Version(1)
    var durable = Version(1)
    var nextOffset: UInt64 = 0
    /// Blocks of the newest version.
    var live: [(run: Run, birth: Version)] = []
    /// Killed by versions that are not durable.
    var pending: [Block] = []
    /// What `dead` should hold at most: nothing was freed of it yet.
    var kept: [Run: Block] = [:]
    /// Pinned versions, ascending, with the number of their holders.
    var pins: [(version: Version, holders: Int)] = []
    var references = 0

    func isSeen(_ block: Block) -> Bool {
      let index = firstPin(from: block.birth)
      return index < pins.count && pins[index].version < block.death
    }

    func firstPin(from version: Version) -> Int {
      var low = 0
      var high = pins.count
      while low < high {
        let middle = (low + high) / 2
        if pins[middle].version < version { low = middle + 1 } else { high = middle }
      }
      return low
    }

    mutating func commit(kills: Int, _ random: inout RandomGenerator) {
      newest = newest.next
      for _ in 0..<kills where !live.isEmpty {
        let index = Int.random(in: 0..<live.count, using: &random)
        let old = live[index]
        if old.birth == newest { continue }
        live.swapAt(index, live.count - 1)
        live.removeLast()
        pending.append(Block(run: old.run, birth: old.birth, death: newest))
      }
      for _ in 0..<max(kills, 2) where live.count < 300 {
        let length = UInt64(Int.random(in: 1...20, using: &random)) * 16
        live.append((Run(offset: nextOffset, length: length), newest))
        nextOffset += length
      }
    }

    /// What died in versions that are now durable goes to its pins.
    mutating func makeDurable() {
      durable = newest
      for block in pending {
        let isKept = dead.insert(run: block.run, birth: block.birth, death: block.death)
        #expect(isKept == isSeen(block))
        if isKept { kept[block.run] = block }
      }
      pending = []
    }

    /// Pins the newest version (as a writer does), the durable one, or a pinned one once more.
    mutating func pin(_ random: inout RandomGenerator, newest isNewest: Bool = false) {
      var version = newest
      switch Int.random(in: 0..<3, using: &random) {
      case 0 where !isNewest: version = durable
      case 1 where !isNewest && !pins.isEmpty:
        version = pins[Int.random(in: 0..<pins.count, using: &random)].version
      default: break
      }
      references += 1
      let index = firstPin(from: version)
      if index < pins.count, pins[index].version == version {
        pins[index].holders += 1
      } else {
        pins.insert((version, 1), at: index)
        dead.addPin(version)
      }
    }

    mutating func unpin(_ order: Order, _ random: inout RandomGenerator) {
      guard !pins.isEmpty else { return }
      let index =
        switch order {
        case .random: Int.random(in: 0..<pins.count, using: &random)
        case .oldestFirst: 0
        case .newestFirst: pins.count - 1
        }
      references -= 1
      pins[index].holders -= 1
      if pins[index].holders == 0 { dead.removePin(pins.remove(at: index).version) }
    }

    /// Nothing that a pin sees may come out.
    @discardableResult
    mutating func collect(maximum: Int) throws -> Bool {
      var freed: [Run] = []
      let hasMore = dead.collect(maximum: maximum) { freed.append($0) }
      try #require(freed.count <= maximum)
      for run in freed {
        let known = kept.removeValue(forKey: run)
        let block = try #require(known, "freed twice or never kept")
        try #require(!isSeen(block), "\(block) is freed under a pin")
      }
      return hasMore
    }

    /// Afterwards only what some pin sees is left.
    mutating func collectAll() throws {
      while try collect(maximum: 50) {}
      for block in kept.values { try #require(isSeen(block), "\(block) is kept without a pin") }
    }

    func compare() throws {
      try #require(dead.checkInvariants(pins: pins.map(\.version)) == [])
      try #require(dead.count == kept.count)
      try #require(dead.heldBytes == kept.keys.reduce(0) { $0 + $1.length })
      var seen: [Run: Version] = [:]
      dead.forEach { seen[$0] = $1 }
      try #require(seen == kept.mapValues(\.death))
    }
  }
}
