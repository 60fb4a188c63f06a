// Pins shown to other processes: seen, withdrawn, grown, overflown, and gone with their process.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CoordinationPinTests {
  let fixture = LockFixture()

  private func versions(_ numbers: some Sequence<UInt64>) -> [Version] {
    numbers.map { Version($0) }
  }

  @Test func pinsAreSeenOnceAndInOrder() throws {
    let writer = try fixture.open()
    let reader = try fixture.open()
    var state = ForeignPinState()
    #expect(try writer.foreignPins(since: &state) == [])
    #expect(try writer.foreignPins(since: &state) == nil)
    let pins = [5, 3, 5, 9].map { reader.publishPin(Version($0)) }
    #expect(try writer.foreignPins(since: &state) == versions([3, 5, 9]))
    #expect(state.added == versions([3, 5, 9]))
    #expect(try writer.foreignPins(since: &state) == nil)
    // One of two pins of a version changes nothing.
    reader.withdrawPin(pins[0])
    #expect(try writer.foreignPins(since: &state) == nil)
    reader.withdrawPin(pins[2])
    #expect(try writer.foreignPins(since: &state) == versions([3, 9]))
    #expect(state.added == [] && state.removed == versions([5]))
    #expect(try writer.foreignPins(since: &state, reapNow: true) == versions([3, 9]))
    // The own ones are not foreign.
    _ = writer.publishPin(Version(100))
    #expect(try writer.foreignPins(since: &state) == nil)
    var other = ForeignPinState()
    #expect(try reader.foreignPins(since: &other) == versions([100]))
    reader.withdrawPin(pins[1])
    reader.withdrawPin(pins[3])
    reader.close()
    #expect(try writer.foreignPins(since: &state) == [])
    #expect(try writer.foreignPins(since: &state) == nil)
  }

  @Test func regionsGrow() throws {
    let writer = try fixture.open()
    let reader = try fixture.open()
    let count: UInt64 = 20_000
    var state = ForeignPinState()
    var pins = (1...count).map { reader.publishPin(Version($0)) }
    #expect(try writer.foreignPins(since: &state) == versions(1...count))
    #expect(state.everythingSince == nil)
    for index in pins.indices where index % 2 == 0 { reader.withdrawPin(pins[index]) }
    #expect(try writer.foreignPins(since: &state) == versions((1...count).filter { $0 % 2 == 0 }))
    // Freed words are used again.
    let length = try fixture.lockFileLength()
    for index in pins.indices where index % 2 == 0 {
      pins[index] = reader.publishPin(Version(UInt64(index) + count + 1))
    }
    #expect(try fixture.lockFileLength() == length)
    #expect(state.removed.count == Int(count) / 2)
    _ = try writer.foreignPins(since: &state)
    #expect(state.versions.count == Int(count))
    pins.forEach { reader.withdrawPin($0) }
    #expect(try writer.foreignPins(since: &state) == [])
    // The next owner of the slot inherits its segments, empty.
    reader.close()
    let next = try fixture.open()
    _ = next.publishPin(Version(4))
    #expect(try writer.foreignPins(since: &state) == versions([4]))
    _ = (1...count).map { next.publishPin(Version($0)) }
    #expect(try fixture.lockFileLength() == length)
  }

  @Test func withoutRoomThePinsAreCoarse() throws {
    let writer = try fixture.open()
    let (reader, process) = try fixture.openMortal()
    var state = ForeignPinState()
    let first = (1...512).map { reader.publishPin(Version(UInt64($0) + 1000)) }
    process.limitLength(try fixture.lockFileLength())
    #expect(try writer.foreignPins(since: &state)?.count == 512)
    let coarse = [3000, 2000, 2000].map { reader.publishPin(Version($0)) }
    #expect(try writer.foreignPins(since: &state)?.count == 512)
    #expect(state.everythingSince == Version(2000))
    #expect(try writer.foreignPins(since: &state) == nil)
    reader.withdrawPin(coarse[1])
    #expect(try writer.foreignPins(since: &state) == nil)
    reader.withdrawPin(coarse[2])
    #expect(try writer.foreignPins(since: &state) != nil)
    #expect(state.everythingSince == Version(3000))
    // A word that is free again is used, and one that was refused is asked for again.
    reader.withdrawPin(first[0])
    _ = reader.publishPin(Version(4000))
    process.limitLength(.max)
    _ = reader.publishPin(Version(5000))
    #expect(try writer.foreignPins(since: &state)?.suffix(2) == versions([4000, 5000])[...])
    reader.withdrawPin(coarse[0])
    #expect(try writer.foreignPins(since: &state)?.count == 513)
    #expect(state.everythingSince == nil)
    // No room at all.
    let (poor, poorProcess) = try fixture.openMortal()
    poorProcess.limitLength(0)
    let pin = poor.publishPin(Version(50))
    _ = try writer.foreignPins(since: &state)
    #expect(state.everythingSince == Version(50))
    poorProcess.kill()
    _ = try writer.foreignPins(since: &state, reapNow: true)
    #expect(state.everythingSince == nil)
    _ = pin
  }

  @Test func pinsOfTheDeadGo() throws {
    let writer = try fixture.open()
    let (reader, process) = try fixture.openMortal()
    var state = ForeignPinState()
    for version in 1...600 { _ = reader.publishPin(Version(UInt64(version))) }
    #expect(try writer.foreignPins(since: &state)?.count == 600)
    process.kill()
    // Looked for only every 20 ms.
    #expect(try writer.foreignPins(since: &state) == nil)
    fixture.clock.advance(nanoseconds: 20_000_000)
    #expect(try writer.foreignPins(since: &state) == [])
    #expect(try writer.foreignPins(since: &state) == nil)
    let (second, secondProcess) = try fixture.openMortal()
    _ = second.publishPin(Version(700))
    #expect(try writer.foreignPins(since: &state) == versions([700]))
    secondProcess.kill()
    #expect(try writer.foreignPins(since: &state, reapNow: true) == [])
  }

  @Test func aDamagedTableIsAnError() throws {
    let writer = try fixture.open()
    let reader = try fixture.open()
    _ = reader.publishPin(Version(3))
    var state = ForeignPinState()
    // First segment of the second slot, as documented in LockLayout.
    try fixture.setWord((4096 + 256) / 8 + 16, 1 << 40)
    #expect(throws: StorageError.self) { try writer.foreignPins(since: &state) }
  }

  /// Openings, pins, ends and deaths at random, against a plain dictionary.
  @Test func randomHistoriesMatchAModel() async {
    await withSeeds(8) { random in
      struct Process {
        var lockFile: LockFile
        var files: MortalFileSystem
        var pins: [(PinSlot, UInt64)] = []
      }
      let fixture = LockFixture()
      let writers = [try fixture.open(), try fixture.open()]
      var states = [ForeignPinState(), ForeignPinState()]
      var processes: [Process] = []
      var graves: [LockFile] = []
      for step in 0..<3000 {
        switch random.next(upperBound: 100 as UInt64) {
        case 0 where processes.count < 10:
          let (lockFile, files) = try fixture.openMortal()
          processes.append(Process(lockFile: lockFile, files: files))
        case 1 where !processes.isEmpty:
          let process = processes.remove(at: Int.random(in: processes.indices, using: &random))
          process.files.kill()
          graves.append(process.lockFile)
        case 2 where !processes.isEmpty:
          let process = processes.remove(at: Int.random(in: processes.indices, using: &random))
          for (pin, _) in process.pins { process.lockFile.withdrawPin(pin) }
          process.lockFile.close()
        case 3..<50 where !processes.isEmpty:
          let index = Int.random(in: processes.indices, using: &random)
          for _ in 0...random.next(upperBound: random.oneIn(20) ? 1000 as UInt64 : 3) {
            let version = 1 + random.next(upperBound: 2000 as UInt64)
            let pin = processes[index].lockFile.publishPin(Version(version))
            processes[index].pins.append((pin, version))
          }
        case 50..<90 where !processes.isEmpty:
          let index = Int.random(in: processes.indices, using: &random)
          for _ in 0...random.next(upperBound: random.oneIn(20) ? 1000 as UInt64 : 4) {
            guard let last = processes[index].pins.indices.last else { break }
            let place = Int.random(in: 0...last, using: &random)
            processes[index].pins.swapAt(place, last)
            processes[index].lockFile.withdrawPin(processes[index].pins.removeLast().0)
          }
        default:
          let place = Int.random(in: 0...1, using: &random)
          let before = states[place].versions
          let reported = try writers[place].foreignPins(since: &states[place], reapNow: true)
          let expected = Set(processes.flatMap { $0.pins.map(\.1) }).sorted().map { Version($0) }
          try #require(reported == expected, "step \(step)")
          let removed = Set(states[place].removed)
          let added = Set(states[place].added)
          #expect(Set(before).subtracting(removed).union(added) == Set(expected))
          #expect(removed.isSubset(of: before) && added.isDisjoint(with: before))
        }
      }
    }
  }

  /// A pin that was there when a scan began, and still is when it ends, is in its result.
  @Test func noPinIsMissed() async {
    let fixture = fixture
    await withSeeds(2) { random in
      let writer = try fixture.open()
      let readers = [try fixture.open(), try fixture.open()]
      let published = Monitor<Set<UInt64>>([])
      let numbers = Atomic<UInt64>(1)
      let isOver = Atomic<Bool>(false)
      let seeds = (0..<4).map { _ in random.next() }
      let threads = seeds.enumerated().map { place, seed in
        Thread.start(name: "reader") {
          var random = RandomGenerator(seed: seed)
          let reader = readers[place % 2]
          var pins: [(PinSlot, UInt64)] = []
          while !isOver.load(ordering: .relaxed) {
            // Lets the scanner at the list.
            if random.oneIn(50) { sched_yield() }
            if pins.count < 300, !random.oneIn(3) || pins.isEmpty {
              let version = numbers.add(1, ordering: .relaxed).newValue
              pins.append((reader.publishPin(Version(version)), version))
              published.withLock { _ = $0.insert(version) }
            } else {
              pins.swapAt(Int.random(in: pins.indices, using: &random), pins.count - 1)
              let (pin, version) = pins.removeLast()
              published.withLock { _ = $0.remove(version) }
              reader.withdrawPin(pin)
            }
          }
          for (pin, version) in pins {
            published.withLock { _ = $0.remove(version) }
            reader.withdrawPin(pin)
          }
        }
      }
      var state = ForeignPinState()
      for _ in 0..<200 {
        let before = published.withLock { $0 }
        let seen = Set(
          try writer.foreignPins(since: &state, reapNow: true)?.map(\.rawValue) ?? [])
        let after = published.withLock { $0 }
        #expect(before.intersection(after).subtracting(seen).isEmpty)
      }
      isOver.store(true, ordering: .relaxed)
      threads.forEach { $0.joinInTime() }
      #expect(try writer.foreignPins(since: &state, reapNow: true) == [])
    }
  }

  /// The same with one pin at a time, so that no later change hides a counter that moved too early.
  @Test func aLonePinIsSeen() throws {
    let writer = try fixture.open()
    let reader = try fixture.open()
    let count: UInt64 = 500
    let turns = Turns()
    let thread = Thread.start(name: "reader") {
      for version in 1...count {
        let pin = reader.publishPin(Version(version))
        turns.published.store(version, ordering: .releasing)
        #expect(eventually { turns.seen.load(ordering: .acquiring) == version })
        reader.withdrawPin(pin)
      }
    }
    var state = ForeignPinState()
    var missed = 0
    while turns.seen.load(ordering: .relaxed) != count {
      let published = turns.published.load(ordering: .acquiring)
      _ = try writer.foreignPins(since: &state)
      if published != 0, published != turns.seen.load(ordering: .relaxed) {
        if state.versions != [Version(published)] { missed += 1 }
        turns.seen.store(published, ordering: .releasing)
      }
    }
    thread.joinInTime()
    #expect(missed == 0)
    #expect(try writer.foreignPins(since: &state, reapNow: true) == [])
  }

  /// Publish, then read the head again: a version whose pin was confirmed is never given up.
  @Test func confirmedPinsHold() async {
    let fixture = fixture
    await withSeeds(2) { random in
      let last: UInt64 = 3000
      let writer = try fixture.open()
      let readers = [try fixture.open(), try fixture.open(), try fixture.open()]
      writer.publishHead(version: Version(1), home: 0)
      let freed = WordList(count: Int(last) + 1)
      let confirmations = Atomic<Int>(0)
      let violations = Atomic<Int>(0)
      let threads = readers.map { reader in
        let seed = random.next()
        return Thread.start(name: "reader") {
          var random = RandomGenerator(seed: seed)
          while true {
            let head = reader.head
            let pin = reader.publishPin(head.version)
            let isConfirmed = reader.head == head
            if isConfirmed {
              confirmations.add(1, ordering: .relaxed)
              for _ in 0..<random.next(upperBound: 1000 as UInt64) {
                if freed.value(Int(head.version.rawValue)) != 0 {
                  violations.add(1, ordering: .relaxed)
                }
              }
            }
            reader.withdrawPin(pin)
            if head.version.rawValue == last { return }
          }
        }
      }
      // As when a sync ends in one process while another one writes.
      let publisher = try fixture.open()
      let seed = random.next()
      let publishing = Thread.start(name: "publisher") {
        var random = RandomGenerator(seed: seed)
        for version in 2...last {
          publisher.publishHead(version: Version(version), home: 0)
          for _ in 0..<random.next(upperBound: 300 as UInt64) { _ = publisher.head }
        }
      }
      var state = ForeignPinState()
      var candidates: Set<UInt64> = []
      var dead: UInt64 = 1
      while dead < last {
        _ = try writer.foreignPins(since: &state)
        while dead < state.head.version.rawValue {
          candidates.insert(dead)
          dead += 1
        }
        let pinned = Set(state.versions.map(\.rawValue))
        for candidate in candidates.subtracting(pinned) { freed.set(Int(candidate)) }
        candidates.formIntersection(pinned)
      }
      publishing.joinInTime()
      publisher.close()
      threads.forEach { $0.joinInTime() }
      #expect(violations.load(ordering: .relaxed) == 0, "versions were given up under pins")
      #expect(confirmations.load(ordering: .relaxed) > 0)
      readers.forEach { $0.close() }
      writer.close()
      try LinuxFileSystem().remove(fixture.lockPath)
    }
  }
}

/// What a reader has published, and a writer has looked for, last.
private final class Turns: Sendable {
  let published = Atomic<UInt64>(0)
  let seen = Atomic<UInt64>(0)
}

/// Words that threads share.
private final class WordList: Sendable {
  private let words: [Word]

  private final class Word: Sendable { let value = Atomic<UInt64>(0) }

  init(count: Int) { words = (0..<count).map { _ in Word() } }

  func value(_ index: Int) -> UInt64 { words[index].value.load(ordering: .acquiring) }
  func set(_ index: Int) { words[index].value.store(1, ordering: .releasing) }
}
