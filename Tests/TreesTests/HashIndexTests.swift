// The hash index against a dictionary from keys to hashes: good hashes, bad ones and equal ones.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct HashIndexTests {
  static func hashesOf(_ model: [Int64: UInt64]) -> HashIndexEditor.HashesOf {
    { keys, hashes in
      for (position, key) in keys.enumerated() { hashes[position] = model[key]! }
    }
  }

  static func expectEqual(_ editor: HashIndexEditor, _ model: [Int64: UInt64]) {
    let index = editor.index
    let (findings, entries) = index.checkInvariants(name: "index") { model[$0] }
    #expect(findings == [])
    #expect(entries == model.count)
    #expect(editor.count == model.count)
    for (key, hash) in model { #expect(index.find(hash) { $0 == key } == key) }
    #expect(index.find(0x1234_5678_9abc_def0) { _ in true } == nil || !model.isEmpty)
  }

  /// Kinds of hashes: spread, few different ones, all equal, equal low bits, equal high bits.
  static func hash(_ kind: Int, _ key: Int64, _ random: inout RandomGenerator) -> UInt64 {
    switch kind {
    case 0: IndexHash.integer(key)
    case 1: random.next()
    case 2: UInt64.random(in: 0..<5, using: &random) << 50
    case 3: 42
    case 4: random.next() << 20
    default: random.next() >> 20
    }
  }

  @Test(arguments: 0..<6, [0, 1 << 24 - 700, 1 << 32 - 700] as [Int64])
  func randomChangesEqualADictionary(kind: Int, firstKey: Int64) async {
    await withSeeds(1) { random in
      let editor = BlockEditor.inMemory()
      let index = HashIndexEditor(editor, root: .none, bucketCount: 1, count: 0)
      var model: [Int64: UInt64] = [:]
      var keys: [Int64] = []
      var nextKey = firstKey
      // Keys one after the other, as tables give them, are remembered with their hashes.
      let stepMax: Int64 = random.oneIn(2) ? 1 : 3
      for phase in 0..<6 {
        let grows = phase % 2 == 0
        if random.oneIn(2) {
          index.reserve(
            Int.random(in: 0...2500, using: &random), hashesOf: Self.hashesOf(model))
          Self.expectEqual(index, model)
        }
        for _ in 0..<amount(kind == 3 ? 1500 : 2500, debug: 500) {
          if keys.isEmpty || random.oneIn(grows ? 4 : 2) != grows {
            let hash = Self.hash(kind, nextKey, &random)
            model[nextKey] = hash
            index.insert(hash, nextKey, hashesOf: Self.hashesOf(model))
            keys.append(nextKey)
            nextKey += Int64.random(in: 1...stepMax, using: &random)
          } else if random.oneIn(3) {
            let key = keys.randomElement(using: &random)!
            #expect(index.remove(model[key]!, key))
            model[key] = Self.hash(kind, key, &random)
            index.insert(model[key]!, key, hashesOf: Self.hashesOf(model))
          } else {
            let position = Int.random(in: 0..<keys.count, using: &random)
            let key = keys[position]
            keys.swapAt(position, keys.count - 1)
            keys.removeLast()
            #expect(index.remove(model[key]!, key))
            #expect(!index.remove(model[key]!, key))
            model[key] = nil
          }
        }
        Self.expectEqual(index, model)
      }
      for key in keys {
        #expect(index.remove(model[key]!, key))
        model[key] = nil
      }
      Self.expectEqual(index, model)
      index.removeAll()
      #expect(editor.provisionalBytes == 0)
    }
  }

  @Test func whatIsReservedIsNotSplitLater() {
    let editor = BlockEditor.inMemory()
    let index = HashIndexEditor(editor, root: .none, bucketCount: 1, count: 0)
    let count: Int64 = 30_000
    index.reserve(Int(count)) { keys, _ in #expect(keys.isEmpty) }
    let buckets = index.bucketCount
    var splits = 0
    for key in 0..<count { index.insert(IndexHash.integer(key), key) { _, _ in splits += 1 } }
    #expect(splits == 0)
    #expect(index.bucketCount == buckets)
    #expect(Double(editor.provisionalBytes) / Double(count) < 5.5)
    let model = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, IndexHash.integer($0)) })
    Self.expectEqual(index, model)
  }

  /// Splits need no look at objects that were added in the same transaction.
  @Test func hashesOfAddedObjectsAreRemembered() async {
    await withSeeds(1) { random in
      let index = HashIndexEditor(.inMemory(), root: .none, bucketCount: 1, count: 0)
      var model: [Int64: UInt64] = [:]
      for key in Int64(5)..<20_000 {
        model[key] = random.next()
        index.insert(model[key]!, key) { _, _ in Issue.record("looks at objects") }
      }
      #expect(index.bucketCount > 400)
      Self.expectEqual(index, model)
      for (key, hash) in model {
        #expect(!index.isKnownToDiffer(key, from: hash))
        #expect(index.isKnownToDiffer(key, from: hash ^ 1))
      }
      #expect(!index.isKnownToDiffer(4, from: 1) && !index.isKnownToDiffer(20_000, from: 1))
    }
  }

  /// Candidates are what has the fingerprint, whatever comes behind the entries.
  @Test func candidatesAreTheEntriesWithTheFingerprint() async {
    await withSeeds(1) { random in
      for count in 1...64 {
        for firstKey in [0, 0x0303_0303, 0x0303_0303_0303] as [Int64] {
          let index = HashIndexEditor(.inMemory(), root: .none, bucketCount: 1, count: 0)
          var expected: UInt64 = 0
          for entry in 0..<count {
            let fingerprint = UInt64.random(in: 1...3, using: &random)
            if fingerprint == 3 { expected |= 1 << UInt64(entry) }
            index.insert(fingerprint << 56, firstKey + Int64(entry)) { _, _ in }
          }
          let bucket = try #require(index.index.shortBucket(3 << 56))
          #expect(HashBucket.candidates(bucket, 3) == expected, "\(count) entries")
        }
      }
    }
  }

  @Test func longBucketsAndChainsAreNotShort() {
    let index = HashIndexEditor(.inMemory(), root: .none, bucketCount: 1, count: 0)
    #expect(index.index.shortBucket(7) == nil)
    for key in Int64(0)..<2_000 {
      index.insert(7, key) { _, _ in }
      #expect((index.index.shortBucket(7) != nil) == (key < 64))
    }
  }

  @Test func bucketsStayShort() {
    let editor = BlockEditor.inMemory()
    let index = HashIndexEditor(editor, root: .none, bucketCount: 1, count: 0)
    let count: Int64 = 30_000
    for key in 0..<count {
      index.insert(IndexHash.integer(key), key) { keys, hashes in
        for (position, key) in keys.enumerated() { hashes[position] = IndexHash.integer(key) }
      }
    }
    #expect(index.bucketCount >= Int(count) / HashIndexEditor.splitLoad)
    #expect(Double(editor.provisionalBytes) / Double(count) < 5.5)
    var candidates = 0
    for key in 0..<count {
      #expect(
        index.index.find(IndexHash.integer(key)) {
          candidates += 1
          return $0 == key
        } == key)
    }
    #expect(Double(candidates) / Double(count) < 1.25)
  }
}
