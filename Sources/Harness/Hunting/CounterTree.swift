// What hunted stores stand on: a disk that holds nothing of a run before, and the smallest tree
// that a store can hold, some counters, each in a block of its own below one root.
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// The disk of a run.
enum HuntedDisk {
  /// A disk, and nothing that is left of a run before.
  static func make() -> SimulatedDisk {
    #if CONTROLLED_SCHEDULING
      Store.forgetOpenFiles()
      #if PLANTED_BUGS
        PlantedBug.setCalls(random(below: 1_000))
      #endif
    #endif
    return SimulatedDisk(allowsUnpromptedWork: true, tellsAllOfFailedSyncs: true)
  }

  /// A process of a simulated disk.
  ///
  /// From the seed follows whether its syncs last until all others wait.
  static func system(_ disk: SimulatedDisk, process: Int = 0) -> FaultFileSystem {
    FaultFileSystem(
      disk, process: UInt64(process), syncNanoseconds: random(below: 2) == 0 ? 0 : 1_000_000,
      allowsUnpromptedWork: true)
  }

  /// What a power cut leaves of a disk at one of its operations.
  ///
  /// - Parameter begin: how many operations it has had at least.
  static func powerCut(
    _ disk: SimulatedDisk, from begin: Int
  ) -> (image: SimulatedDisk, operation: Int) {
    var generator = RandomGenerator(seed: UInt64(random(below: 1 << 48)))
    let operation = begin + random(below: disk.operationCount - begin + 1)
    return (disk.crashImage(cutAfterOperation: operation, random: &generator), operation)
  }

  /// Options of which some follow from the seed: whether commits go through a log, a short one.
  static func options(
    _ path: String, _ system: any FileSystem, _ use: HuntedUse = HuntedUse()
  ) -> StoreOptions {
    var options = use.options(path, system)
    if random(below: 2) == 0 {
      options.commitLog = .always
      options.logSegmentMin = 4_096 * (1 + random(below: 3))
    }
    return options
  }
}

/// How a file is used by all who open it.
struct HuntedUse {
  /// Without syncs it is not for power cuts.
  var durability = Durability.full
  var encryptionKey: [UInt8]?

  /// From the seed.
  static func random() -> HuntedUse {
    HuntedUse(durability: durability(), encryptionKey: RaceHunt.random(below: 4) == 0 ? key : nil)
  }

  static func durability() -> Durability { RaceHunt.random(below: 3) == 0 ? .memory : .full }

  private static let key = (0..<64).map(UInt8.init)

  func options(_ path: String, _ system: any FileSystem) -> StoreOptions {
    StoreOptions(
      path: path, durability: durability, fileSystem: system, encryptionKey: encryptionKey)
  }
}

/// Counters in the blocks of a version.
enum CounterTree {
  private static let branchKind = BlockKind(rawValue: 0xa0)
  private static let leafKind = BlockKind(rawValue: 0x20)

  /// The counters; empty before the first write.
  ///
  /// - Parameter count: how many they are where they have other blocks beside them.
  static func values(
    _ reader: BlockReader, _ root: BlockReference, count: Int = .max
  ) -> [UInt64] {
    if root.isNone { return [] }
    let block = reader.pointer(root)
    return (0..<min(count, BlockHeader.count(block))).map { index in
      let leaf = BlockHeader.reference(block, index)
      return leaf.isNone ? 0 : BlockHeader.payload(reader.pointer(leaf)).load(as: UInt64.self)
    }
  }

  /// Adds one to some of `count` counters; returns the new root.
  static func add(
    _ editor: BlockEditor, _ root: BlockReference, to indexes: [Int], of count: Int
  ) -> BlockReference {
    let root =
      root.isNone
      ? editor.allocate(kind: branchKind, count: count, payloadBytes: count * 8)
      : editor.mutable(root)
    for index in indexes {
      let old = BlockHeader.reference(editor.pointer(root), index)
      let leaf =
        old.isNone
        ? editor.allocate(kind: leafKind, count: 0, payloadBytes: 8) : editor.mutable(old)
      let payload = editor.pointer(leaf) + BlockHeader.length
      let value = old.isNone ? 0 : payload.load(as: UInt64.self)
      payload.storeBytes(of: value + 1, as: UInt64.self)
      BlockHeader.setReference(editor.pointer(root), index, leaf)
    }
    return root
  }
}
