// The simulated disk itself: a crash test is worth what its disk is.
import Glibc
import Platform
import TestSupport
import Testing

struct SimulatedDiskTests {
  let disk = SimulatedDisk()
  let sector = 512

  private func filled(_ byte: UInt8, _ count: Int) -> [UInt8] {
    [UInt8](repeating: byte, count: count)
  }

  /// A file of zeros that is durable, entry included.
  private func durableFile(_ path: String, length: Int) throws -> any File {
    let file = try disk.open(path, [.writable, .create])
    try file.write(bytes: filled(0, length), at: 0)
    try file.synchronize()
    try disk.synchronizeFolder(folder(of: path))
    return file
  }

  private func image(_ cut: PowerCut, at operation: Int? = nil, seed: UInt64 = 1) -> SimulatedDisk {
    var random = RandomGenerator(seed: seed)
    return disk.crashImage(cutAfterOperation: operation, cut, random: &random)
  }

  private func content(_ disk: SimulatedDisk, _ path: String) throws -> [UInt8] {
    let file = try disk.open(path, [])
    return try file.read(Int(file.length()), at: 0)
  }

  // MARK: - Failed syncs

  /// Each opening is told once of a sync that has failed in another one, if the disk tells all.
  @Test(arguments: [true, false]) func othersAreToldOfAFailedSync(tellsAll: Bool) throws {
    let disk = SimulatedDisk(tellsAllOfFailedSyncs: tellsAll)
    let systems = (1...2).map { FaultFileSystem(disk, process: $0) }
    let files = try systems.map { try $0.open("/a", [.writable, .create]) }
    try files[0].write(bytes: [1], at: 0)
    systems[0].fail(.synchronize, code: EIO)
    #expect(throws: SystemError.self) { try files[0].synchronize() }
    try files[0].synchronize()
    if tellsAll { #expect(throws: SystemError.self) { try files[1].synchronize() } }
    try files[1].synchronize()
    // Who opens it later knows nothing.
    try systems[1].open("/a", [.writable]).synchronize()
    #expect(disk.bytes(of: "/a") == [1] && disk.bytes(of: "/b") == nil)
  }

  // MARK: - As a file system

  @Test func behavesLikeFiles() throws {
    #expect(throws: SystemError.self) { _ = try disk.open("/d/a", [.writable]) }
    let file = try disk.open("/d/a", [.writable, .create, .exclusive])
    #expect(throws: SystemError.self) { _ = try disk.open("/d/a", [.writable, .exclusive]) }
    #expect(disk.exists("/d/./x/../a") && !disk.isDirectory("/d/a") && disk.isDirectory("/d"))
    try file.write(bytes: [1, 2, 3], at: 10)
    #expect(try file.length() == 13)
    #expect(try file.read(5, at: 9) == [0, 1, 2, 3])
    try file.setLength(11)
    try file.setLength(20)
    #expect(try file.read(5, at: 10) == [1, 0, 0, 0, 0])
    let reader = try disk.open("/d/a", [])
    #expect(try reader.identity() == file.identity())
    #expect(throws: SystemError.self) { try reader.write(bytes: [1], at: 0) }
    #expect(throws: SystemError.self) { try reader.setLength(1) }
    #expect(throws: SystemError.self) { _ = try reader.mapShared(length: 1) }
    #expect(throws: SystemError.self) { _ = try disk.open("/d", []) }
    #expect(throws: SystemError.self) { try disk.rename("/d/none", to: "/d/b") }
    #expect(throws: SystemError.self) { try disk.synchronizeFolder("/d/none") }
    try disk.rename("/d/a", to: "/d/b")
    #expect(!disk.exists("/d/a") && disk.exists("/d/b"))
    try disk.remove("/d/b")
    #expect(throws: SystemError.self) { try disk.remove("/d/b") }
    #expect(try file.length() == 20)
    #expect(try SimulatedDisk().open("/x", [.create]).identity() != file.identity())
  }

  @Test func mapsAreStableAndSeeLaterWrites() throws {
    let file = try disk.open("/a", [.writable, .create])
    let map = try file.map(length: 1 << 32)
    let base = map.base
    try file.setLength(1 << 20)
    try file.write(bytes: [9], at: 1 << 19)
    #expect(map.byte(at: 1 << 19) == 9)
    #expect(map.base == base)
    let shared = try file.mapShared(length: 4096)
    shared.setByte(3, at: 7)
    #expect(try file.read(1, at: 7) == [3])
    #expect(map.byte(at: 7) == 3)
  }

  @Test func locksBelongToTheOpenFile() throws {
    let first = try disk.open("/a", [.writable, .create])
    var second: (any File)? = try disk.open("/a", [.writable])
    let other = try disk.open("/b", [.writable, .create])
    #expect(try first.lockByte(1, exclusive: true, wait: false))
    #expect(try first.lockByte(1, exclusive: true, wait: false))
    #expect(try other.lockByte(1, exclusive: true, wait: false))
    #expect(try second?.lockByte(1, exclusive: false, wait: false) == false)
    #expect(try second?.isByteLocked(1) == true)
    #expect(try first.isByteLocked(1) == false)
    #expect(try first.lockByte(1, exclusive: false, wait: false))
    #expect(try second?.lockByte(1, exclusive: false, wait: false) == true)
    #expect(try first.lockByte(1, exclusive: true, wait: false) == false)
    second = nil
    #expect(try first.lockByte(1, exclusive: true, wait: false))
  }

  @Test func waitersGetTheLockWhenItsHolderGoes() throws {
    var holder: (any File)? = try disk.open("/a", [.writable, .create])
    #expect(try holder?.lockByte(0, exclusive: true, wait: true) == true)
    let taken = Monitor(false)
    let waiter = try disk.open("/a", [.writable])
    let thread = Thread.start(name: "waiter") {
      let isTaken = (try? waiter.lockByte(0, exclusive: true, wait: true)) ?? false
      taken.withLock { $0 = isTaken }
    }
    #expect(taken.withLock { $0 } == false)
    holder = nil
    thread.joinInTime()
    #expect(taken.withLock { $0 })
  }

  @Test func withoutPowerNothingWorks() throws {
    let file = try disk.open("/a", [.writable, .create])
    #expect(try file.lockByte(0, exclusive: true, wait: true))
    let waiter = try disk.open("/a", [.writable])
    let failure = Monitor<SystemError?>(nil)
    let thread = Thread.start(name: "waiter") {
      do throws(SystemError) {
        _ = try waiter.lockByte(0, exclusive: true, wait: true)
      } catch {
        failure.withLock { $0 = error }
      }
    }
    let count = disk.operationCount
    disk.powerOff()
    thread.joinInTime()
    #expect(failure.withLock { $0?.code } == EIO)
    #expect(throws: SystemError.self) { try file.write(bytes: [1], at: 0) }
    #expect(throws: SystemError.self) { try file.synchronize() }
    #expect(throws: SystemError.self) { _ = try disk.open("/a", []) }
    #expect(disk.operationCount == count)
  }

  // MARK: - Power cuts

  @Test func synchronizedWritesSurviveEveryCut() throws {
    let file = try durableFile("/d/a", length: 8192)
    try file.write(bytes: filled(1, 3000), at: 100)
    try file.synchronize()
    let acknowledged = disk.operationCount
    try file.write(bytes: filled(2, 1000), at: 5000)
    let expected = filled(0, 100) + filled(1, 3000)
    for cut in PowerCut.allCases {
      for seed in 1...20 as ClosedRange<UInt64> {
        let bytes = try content(image(cut, seed: seed), "/d/a")
        #expect(bytes.count == 8192)
        #expect(Array(bytes[..<3100]) == expected)
      }
    }
    #expect(try content(image(.keepsEverything, at: acknowledged), "/d/a")[5000] == 0)
    #expect(try content(image(.keepsEverything), "/d/a")[5000] == 2)
    #expect(try content(image(.keepsNothing), "/d/a")[5000] == 0)
    // Going back is possible, too.
    #expect(try content(image(.keepsEverything, at: acknowledged - 1), "/d/a")[100] == 1)
    #expect(try content(image(.keepsNothing, at: acknowledged - 1), "/d/a")[100] == 0)
  }

  /// Every outcome of two sectors must come up: none, either one, both.
  @Test func tearsAndReorders() throws {
    let file = try durableFile("/a", length: 4096)
    try file.write(bytes: filled(1, 2 * sector), at: 0)
    try file.write(bytes: filled(2, 2 * sector), at: 2 * UInt64(sector))
    var seen: [PowerCut: Set<[UInt8]>] = [:]
    for cut in PowerCut.allCases {
      for seed in 1...200 as ClosedRange<UInt64> {
        let bytes = try content(image(cut, seed: seed), "/a")
        for start in stride(from: 0, to: 4096, by: sector) {
          #expect(Set(bytes[start..<start + sector]).count == 1)
        }
        seen[cut, default: []].insert((0..<4).map { bytes[$0 * sector] })
      }
    }
    #expect(seen[.keepsNothing] == [[0, 0, 0, 0]])
    #expect(seen[.keepsEverything] == [[1, 1, 2, 2]])
    #expect(seen[.keepsPrefix] == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 2, 2]])
    #expect(seen[.picksWrites] == [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 2, 2], [1, 1, 2, 2]])
    #expect(seen[.picksSectors]?.count == 16)
    #expect(seen[.tearsOne]?.contains([0, 1, 0, 0]) == true)
    #expect(seen[.tearsOne]?.contains([1, 1, 2, 0]) == true)
    #expect(seen[.tearsOne]?.contains([0, 1, 2, 2]) == false)
  }

  @Test func lengthsAndEntriesAreKeptOrLost() throws {
    let file = try durableFile("/a", length: 1024)
    try file.write(bytes: filled(1, 1024), at: 1024)
    try file.setLength(4096)
    try file.setLength(512)
    _ = try disk.open("/b", [.writable, .create])
    var lengths: Set<Int> = []
    var entries: Set<Bool> = []
    for seed in 1...200 as ClosedRange<UInt64> {
      let image = image(.picksSectors, seed: seed)
      lengths.insert(try content(image, "/a").count)
      entries.insert(image.exists("/b"))
    }
    #expect(lengths == [1024, 2048, 4096, 512])
    #expect(entries == [true, false])
    try disk.synchronizeFolder("/")
    #expect(image(.keepsNothing).exists("/b"))
    // The entry is durable, the length is not.
    #expect(try content(image(.keepsNothing), "/a").count == 1024)
  }

  @Test func aSynchronizedFileWithoutItsEntryIsGone() throws {
    let file = try disk.open("/d/a", [.writable, .create])
    try file.write(bytes: [1], at: 0)
    try file.synchronize()
    #expect(!image(.keepsNothing).exists("/d/a"))
    #expect(try content(image(.keepsEverything), "/d/a") == [1])
    try disk.synchronizeFolder("/d")
    #expect(try content(image(.keepsNothing), "/d/a") == [1])
  }

  @Test func renamesReplaceWholeOrNotAtAll() throws {
    let old = try durableFile("/a", length: 0)
    try old.write(bytes: [1], at: 0)
    try old.synchronize()
    let new = try disk.open("/a.new", [.writable, .create])
    try new.write(bytes: [2], at: 0)
    try new.synchronize()
    try disk.rename("/a.new", to: "/a")
    var seen: Set<[UInt8]> = []
    for cut in PowerCut.allCases {
      for seed in 1...50 as ClosedRange<UInt64> {
        seen.insert(try content(image(cut, seed: seed), "/a"))
      }
    }
    #expect(seen == [[1], [2]])
    try disk.synchronizeFolder("/")
    #expect(try content(image(.keepsNothing), "/a") == [2])
    #expect(!image(.keepsNothing).exists("/a.new"))
    try disk.remove("/a")
    #expect(image(.keepsNothing).exists("/a"))
    #expect(!image(.keepsEverything).exists("/a"))
  }

  @Test func imagesGoOnFromWhatWasLeft() throws {
    let file = try durableFile("/a", length: 512)
    try file.write(bytes: filled(1, 512), at: 0)
    let second = image(.keepsEverything)
    #expect(second.bootIdentifier != disk.bootIdentifier)
    #expect(second.operationCount == 0)
    let again = try second.open("/a", [.writable])
    try again.write(bytes: filled(2, 512), at: 0)
    var random = RandomGenerator(seed: 1)
    // What survived the first cut is on the medium.
    let third = second.crashImage(.keepsNothing, random: &random)
    #expect(try content(third, "/a") == filled(1, 512))
    #expect(try content(disk, "/a") == filled(1, 512))
  }

  @Test func killsKeepWhatWasWrittenButMakeNothingDurable() throws {
    let file = try durableFile("/a", length: 512)
    #expect(try file.lockByte(0, exclusive: true, wait: false))
    try file.write(bytes: filled(1, 512), at: 0)
    let lockFile = try disk.open("/a.lock", [.writable, .create])
    try lockFile.setLength(4096)
    try lockFile.mapShared(length: 4096).setByte(5, at: 0)
    let killed = disk.killImage()
    #expect(killed.bootIdentifier == disk.bootIdentifier)
    #expect(killed.operationCount == disk.operationCount)
    #expect(try content(killed, "/a") == filled(1, 512))
    #expect(try content(killed, "/a.lock")[0] == 5)
    let again = try killed.open("/a", [.writable])
    #expect(try again.lockByte(0, exclusive: true, wait: false))
    var random = RandomGenerator(seed: 1)
    #expect(
      try content(killed.crashImage(.keepsNothing, random: &random), "/a") == filled(0, 512))
    try again.synchronize()
    #expect(
      try content(killed.crashImage(.keepsNothing, random: &random), "/a") == filled(1, 512))
    #expect(try content(disk.killImage(cutAfterOperation: 3), "/a") == filled(0, 512))
  }

  @Test func sharedMapsReachTheMediumBySynchronize() throws {
    let file = try durableFile("/a", length: 4096)
    try file.mapShared(length: 4096).setByte(5, at: 1000)
    #expect(try content(image(.keepsEverything), "/a")[1000] == 0)
    try file.synchronize()
    #expect(try content(image(.keepsNothing), "/a")[1000] == 5)
  }

  @Test func historyCanStartLater() throws {
    let file = try disk.open("/a", [.writable, .create])
    try file.write(bytes: filled(1, 2000), at: 0)
    disk.startHistory()
    #expect(disk.operationCount == 0)
    try file.write(bytes: filled(2, 100), at: 0)
    #expect(try content(image(.keepsNothing), "/a") == filled(1, 2000))
    #expect(try content(image(.keepsEverything), "/a").prefix(101) == filled(2, 100) + [1])
    #expect(try content(disk.killImage(), "/a").prefix(101) == filled(2, 100) + [1])
  }

  /// fsync on Linux reports an error once; the pages count as clean afterwards.
  @Test func aFailedSynchronizeLosesItsWrites() throws {
    let faults = FaultFileSystem(disk)
    _ = try durableFile("/a", length: 16_384)
    let file = try faults.open("/a", [.writable])
    try file.write(bytes: filled(1, 4096), at: 0)
    try file.write(bytes: filled(1, 4096), at: 8192)
    faults.fail(.synchronize, code: EIO)
    #expect(throws: SystemError.self) { try file.synchronize() }
    #expect(try file.read(1, at: 0) == [1])
    // One byte makes the kernel write the first page again, the other stays lost.
    try file.write(bytes: [2], at: 4095)
    try file.synchronize()
    let bytes = try content(image(.keepsNothing), "/a")
    #expect(Array(bytes[..<4096]) == filled(1, 4095) + [2])
    #expect(Array(bytes[8192..<12_288]) == filled(0, 4096))
    #expect(try content(image(.keepsEverything), "/a")[8192] == 1)
    try file.write(bytes: filled(1, 4096), at: 8192)
    try file.synchronize()
    #expect(try content(image(.keepsNothing), "/a")[8192] == 1)
  }

  @Test func aSynchronizeCoversWhatWasWrittenBeforeItBegan() throws {
    let faults = FaultFileSystem(disk)
    _ = try durableFile("/a", length: 1024)
    let file = try faults.open("/a", [.writable])
    try file.write(bytes: filled(1, 512), at: 0)
    faults.hold(.synchronize)
    let thread = Thread.start(name: "sync") { try? file.synchronize() }
    faults.waitUntilHeld(.synchronize)
    try file.write(bytes: filled(2, 512), at: 512)
    faults.release(.synchronize)
    thread.joinInTime()
    #expect(try content(image(.keepsNothing), "/a") == filled(1, 512) + filled(0, 512))
    try file.synchronize()
    #expect(try content(image(.keepsNothing), "/a") == filled(1, 512) + filled(2, 512))
  }

  // MARK: - Against a model

  /// Random operations and cuts.
  ///
  /// The model keeps the whole content after each operation: a sector of an image must be one that
  /// the file had at some time between its last synchronize and the cut.
  @Test func sectorsHoldOneOfTheirContents() async {
    await withSeeds(12) { random in
      let disk = SimulatedDisk()
      let file = try disk.open("/a", [.writable, .create])
      try disk.synchronizeFolder("/")
      var contents: [[UInt8]] = [[], []]
      var lastSynchronize = [0, 1]
      let mayShrink = random.oneIn(3)
      for step in 0..<60 {
        var now = contents.last!
        switch random.next(upperBound: UInt64(10)) {
        case 0:
          try file.synchronize()
          lastSynchronize.append(contents.count)
        case 1:
          var length = Int(random.next(upperBound: UInt64(6000)))
          if !mayShrink { length = max(length, now.count) }
          try file.setLength(UInt64(length))
          now = Array((now + [UInt8](repeating: 0, count: 6000)).prefix(length))
          lastSynchronize.append(lastSynchronize.last!)
        default:
          let offset = Int(random.next(upperBound: UInt64(5000)))
          let count = 1 + Int(random.next(upperBound: UInt64(1500)))
          let bytes = [UInt8](repeating: UInt8(step + 1), count: count)
          try file.write(bytes: bytes, at: UInt64(offset))
          if now.count < offset + count {
            now += [UInt8](repeating: 0, count: offset + count - now.count)
          }
          now.replaceSubrange(offset..<offset + count, with: bytes)
          lastSynchronize.append(lastSynchronize.last!)
        }
        contents.append(now)
      }
      #expect(disk.operationCount == contents.count)
      for _ in 0..<40 {
        let cut = 2 + Int(random.next(upperBound: UInt64(contents.count - 1)))
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        let file = try image.open("/a", [])
        let bytes = try file.read(Int(file.length()), at: 0)
        let possible = contents[lastSynchronize[cut - 1]..<cut]
        #expect(possible.contains { $0.count == bytes.count })
        switch kind {
        case .keepsNothing: #expect(bytes == possible.first)
        case .keepsEverything: #expect(bytes == possible.last)
        case .keepsPrefix: #expect(possible.contains(bytes))
        case .tearsOne, .picksWrites, .picksSectors: break
        }
        let hasShrunk = zip(possible, possible.dropFirst()).contains { $0.count > $1.count }
        for start in stride(from: 0, to: bytes.count, by: 512) {
          let end = min(start + 512, bytes.count)
          let piece = Array(bytes[start..<end])
          let isPossible = possible.contains { version in
            var sector = Array(version.dropFirst(start).prefix(end - start))
            sector += [UInt8](repeating: 0, count: end - start - sector.count)
            return sector == piece
          }
          // A cut that was lost under writes that were kept mixes more than the model knows.
          #expect(isPossible || hasShrunk)
        }
      }
    }
  }

  @Test func theSameSeedGivesTheSameImage() throws {
    for name in ["/a", "/b", "/c"] {
      let file = try durableFile(name, length: 4096)
      for step in 1...8 as ClosedRange<UInt8> {
        try file.write(bytes: filled(step, 700), at: UInt64(step) * 400)
      }
    }
    for seed in 1...20 as ClosedRange<UInt64> {
      var (first, second) = (RandomGenerator(seed: seed), RandomGenerator(seed: seed))
      let (left, right) = (disk.crashImage(random: &first), disk.crashImage(random: &second))
      for name in ["/a", "/b", "/c"] {
        #expect(try content(left, name) == content(right, name))
      }
    }
  }
}
