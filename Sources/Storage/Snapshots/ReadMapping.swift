// The mapping of one file through which blocks are read, with the bit map of verified blocks.
// The only BlockVerifier of real files. Owned by the store and by every snapshot made on it.
//
// Blocks of an encrypted file are read from memory of their own, laid out like the file, into which
// each is decrypted at its first touch. Nothing of that memory is ever written to a disk by the
// engine.
internal import Platform

/// What of a mapping is as good for the next one of the same file.
private final class MappingParts: Sendable {
  let mapping: any FileMapping
  let verified: VerifiedBits
  let readAhead: ReadAhead

  private init(_ file: any File, length: Int) throws(SystemError) {
    mapping = try file.map(length: length)
    verified = try VerifiedBits(length: length)
    readAhead = ReadAhead(mapping)
  }

  /// New ones, or those of a mapping that was let go a moment ago.
  static func take(_ file: any File, length: Int) throws(SystemError) -> MappingParts {
    guard let use = use(file, length) else { return try MappingParts(file, length: length) }
    if let parts = Spares.take(use) as? MappingParts { return parts }
    do throws(SystemError) { return try MappingParts(file, length: length) } catch {
      // Address space may be scarce.
      Spares.drop()
      return try MappingParts(file, length: length)
    }
  }

  /// Leaves them to the next mapping of the file.
  ///
  /// - Precondition: nobody uses them any more.
  func keep(for file: any File) {
    guard let use = Self.use(file, mapping.length) else { return }
    // What the file holds then is not what was verified.
    verified.clear()
    Spares.keep(self, for: use)
  }

  private static func use(_ file: any File, _ length: Int) -> Spares.Use? {
    file.lastingIdentity.map { Spares.Use(.reading, of: $0, length: length) }
  }
}

/// A read-only mapping of a file, larger than the file, so that pointers stay valid as it grows.
package final class ReadMapping: BlockVerifier, @unchecked Sendable {
  // @unchecked: all fields are immutable or atomic; mapped blocks are written before they are
  // published and never change while a snapshot can reach them. Decrypted blocks are written under
  // the lock of their stripe, or by the holder of the write lock in places that nobody can read
  // yet, and published by their bit.
  let file: any File
  let mapping: any FileMapping
  /// Where the file is mapped.
  private let storedBase: UnsafeRawPointer
  let salt: UInt64
  private let cipher: FileCipher?
  /// Decrypted blocks, each where its sealed form lies in the file.
  private let decrypted: AnonymousMemory?
  /// How many bytes were put there, some perhaps more than once.
  private let bytesDecrypted = Atomic(0)
  private let stripes: [Monitor<Void>]
  private let parts: MappingParts
  let verified: VerifiedBits
  /// Bytes below this are inside the file.
  ///
  /// Only grows, except when the writer cuts the file.
  private let knownLength: Atomic<UInt64>
  /// Decrypted blocks are right for all versions up to this one; 0 before the first.
  private let reuse = Atomic<UInt64>(0)
  /// The larger mapping that has the blocks which a running transaction has written behind this
  /// one; 0 without.
  ///
  /// An address; the reference is given back at deinit.
  private let extensionWord = Atomic<UInt>(0)
  /// Blocks of this process's commits that are not in the file yet.
  let unwrittenBlocks: UnwrittenBlocks

  /// Bytes to map for a file of this length: room for it to grow eightfold without a new mapping.
  ///
  /// - Parameter shortest: for a small file; see `StoreOptions`.
  static func length(forFile length: UInt64, shortest: Int) -> Int {
    // Behind the last place that a block can have lies what somebody has appended.
    max(shortest, Int(min(length, Run.endMax)) * 8)
  }

  /// Bytes by which a file can at least grow before it is mapped anew, where address space is
  /// scarce.
  private static let growthMin = 64 << 20

  /// Address space for a file of some length, and for what lies beside it.
  private static func makeParts(
    _ file: any File, _ length: Int, isEncrypted: Bool
  ) throws(SystemError) -> (MappingParts, AnonymousMemory?) {
    let parts = try MappingParts.take(file, length: length)
    return (parts, isEncrypted ? try AnonymousMemory(length: parts.mapping.length) : nil)
  }

  /// - Parameters:
  ///   - length: how much to map; less where the address space is limited, but no less than
  ///     `covered`.
  ///   - covered: what has to be in the map.
  init(
    file: any File, length: Int, covering covered: UInt64 = 0, fileLength: UInt64, salt: UInt64,
    cipher: FileCipher?,
    unwritten: UnwrittenBlocks = UnwrittenBlocks()
  ) throws(StorageError) {
    self.file = file
    unwrittenBlocks = unwritten
    self.salt = salt
    self.cipher = cipher
    let covered = min(covered, Run.endMax)
    let needed = (Int(covered) + Self.growthMin) / pageLength * pageLength
    let lengths = [length, max(needed, Int(covered) * 2), needed].filter { $0 <= length }
    var made: (MappingParts, AnonymousMemory?)?
    for length in lengths where made == nil {
      made = try? Self.makeParts(file, length, isEncrypted: cipher != nil)
    }
    guard let made else { throw .addressSpaceExhausted(path: file.path, bytes: UInt64(needed)) }
    (parts, decrypted) = made
    mapping = parts.mapping
    storedBase = UnsafeRawPointer(mapping.base)
    verified = parts.verified
    stripes = cipher == nil ? [] : (0..<16).map { _ in Monitor(()) }
    knownLength = Atomic(fileLength)
    super.init()
  }

  deinit {
    parts.keep(for: file)
    Self.mapping(extensionWord.load(ordering: .acquiring))?.release()
  }

  /// A reader on this mapping.
  ///
  /// The caller keeps the mapping alive.
  var reader: BlockReader {
    BlockReader(
      base: base, limit: min(UInt64(mapping.length), BlockReference.offsetEnd),
      verified: verified.words,
      provisional: nil, verifier: Unmanaged<BlockVerifier>.passUnretained(self))
  }

  /// Where blocks are read.
  var base: UnsafeRawPointer { UnsafeRawPointer(decrypted?.base ?? mapping.base) }

  /// Bytes of memory that hold decrypted blocks, at most.
  var decryptedBytes: Int { bytesDecrypted.load(ordering: .relaxed) }

  /// Bytes that a block takes in the file besides its own.
  var blockOverhead: Int { cipher == nil ? 0 : FileCipher.overhead }

  /// The writer has changed the file's length.
  func noteFileLength(_ length: UInt64) { knownLength.store(length, ordering: .relaxed) }

  /// A block that was verified.
  func block(_ reference: BlockReference) -> UnsafeRawPointer { base + Int(reference.offset) }

  // MARK: - The bit map

  /// Notes a block that this process is about to write there, not encrypted yet.
  ///
  /// Write lock only.
  func keep(_ offset: UInt64, _ block: UnsafeRawPointer, _ length: Int) {
    guard offset + UInt64(length) <= UInt64(mapping.length) else {
      longer?.keep(offset, block, length)
      return
    }
    if let decrypted {
      (decrypted.base + Int(offset)).copyMemory(from: block, byteCount: length)
      bytesDecrypted.add(length, ordering: .relaxed)
    }
    verified.set(offset)
  }

  /// The same for a block that will be written later and is read from elsewhere until then.
  ///
  /// Write lock only. Its old bit was cleared by `forget`.
  func keepUnwritten(_ offset: UInt64, _ block: UnsafeRawPointer, _ length: Int) {
    if decrypted != nil { keep(offset, block, length) }
  }

  /// Blocks that were read from elsewhere are in the file now, one after the other.
  func noteWritten(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    guard decrypted == nil else { return }
    var position = 0
    while position < bytes.count {
      verified.set(offset + UInt64(position))
      position += BlockHeader.blockLength(bytes.baseAddress! + position)
    }
  }

  override func unwritten(_ reference: BlockReference) -> UnsafeRawPointer? {
    if let longer, let block = find(reference, in: longer) { return block }
    // Of an encrypted file every block is read from memory, written or not.
    return decrypted == nil ? unwrittenBlocks.find(reference) : nil
  }

  // MARK: - Blocks behind the mapping

  /// Bytes that can be read through this mapping, and through those that make it longer.
  var reach: Int { longer?.reach ?? mapping.length }

  private var longer: ReadMapping? {
    // Acquiring: pairs with `lengthen`. Relaxed would do for the writer, but not for who sees the
    // word early.
    Self.mapping(extensionWord.load(ordering: .acquiring))?.takeUnretainedValue()
  }

  private static func mapping(_ word: UInt) -> Unmanaged<ReadMapping>? {
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }

  /// Lets a running transaction read what it writes behind this mapping through a larger one.
  ///
  /// The transaction has pointers into this one, so it cannot move. Write lock only.
  func lengthen(by larger: ReadMapping) {
    if let longer { return longer.lengthen(by: larger) }
    let word = UInt(bitPattern: Unmanaged.passRetained(larger).toOpaque())
    extensionWord.store(word, ordering: .releasing)
  }

  /// A block that begins behind this mapping, or reaches over its end.
  private func find(_ reference: BlockReference, in longer: ReadMapping) -> UnsafeRawPointer? {
    let offset = reference.offset
    if offset < UInt64(mapping.length) {
      let reachesOver =
        offset + UInt64(BlockHeader.blockLengthMax) > UInt64(mapping.length)
        && longer.verified.isSet(offset)
      if !reachesOver { return nil }
    }
    return longer.reader.pointer(reference)
  }

  /// Forgets the verified blocks of a run, which no snapshot of this process sees.
  func forget(_ run: Run) { verified.clear(run, below: UInt64(mapping.length)) }

  /// The newest version for which decrypted blocks are right.
  var reuseKnown: Version { Version(reuse.load(ordering: .acquiring)) }

  func noteReuse(upTo version: Version) {
    reuse.max(version.rawValue, ordering: .acquiringAndReleasing)
  }

  // MARK: - Reading ahead

  override func prefetchStored(_ reference: BlockReference, lines: Int) {
    // The overhead of a block is in front of it.
    let start = storedBase + Int(reference.offset) + blockOverhead
    prefetch(start - blockOverhead)
    prefetch(start, lines: lines)
  }

  /// Shorter files stay in memory once they are there.
  private static let readAheadFileLength: UInt64 = 64 << 20

  override func willVisit(_ range: Range<UInt64>) {
    guard cipher == nil, knownLength.load(ordering: .relaxed) >= Self.readAheadFileLength,
      range.upperBound <= UInt64(mapping.length)
    else { return }
    parts.readAhead.willVisit(Int(range.lowerBound)..<Int(range.upperBound))
  }

  // MARK: - Verifying

  package override func verify(_ reference: BlockReference) throws(StorageError) {
    guard let cipher, let decrypted else { return try verifyChecksum(reference) }
    // What was decrypted once was sound, and nothing can have damaged it since.
    let offset = reference.offset
    if offset < UInt64(mapping.length), verified.isSet(offset) { return }
    let (start, length) = try rangeChecked(reference)
    // One at a time: who finds the bit must find the whole block.
    try stripes[Int(offset >> 4) & 15].withLock { (_) throws(StorageError) in
      if verified.isSet(offset) { return }
      if let damage = decrypt(reference, start, length, to: decrypted.base, cipher) {
        throw damage
      }
      verified.set(offset)
    }
  }

  /// Puts a block in its place in memory, if it is what its parent refers to.
  ///
  /// Not before that is known: damaged bytes may claim any length, and would be written over the
  /// blocks behind them, which readers have verified.
  private func decrypt(
    _ reference: BlockReference, _ start: UnsafeRawPointer, _ length: Int,
    to base: UnsafeMutableRawPointer, _ cipher: FileCipher
  ) -> StorageError? {
    withUnsafeTemporaryAllocation(byteCount: length, alignment: BlockHeader.unit) { buffer in
      let block = buffer.baseAddress!
      guard cipher.open(start, length, at: reference.offset, to: block) else {
        return damaged(reference, nil, "its bytes are not what was encrypted there")
      }
      if let damage = headerDamage(reference, block, length) { return damage }
      forgetOverlapping(reference.offset, length)
      (base + Int(reference.offset)).copyMemory(from: block, byteCount: length)
      bytesDecrypted.add(length, ordering: .relaxed)
      return nil
    }
  }

  override func verifyStored(_ reference: BlockReference) throws(StorageError) {
    guard cipher != nil else { return try verifyChecksum(reference) }
    _ = try storedBytes(reference)
    try verify(reference)
  }

  private func verifyChecksum(_ reference: BlockReference) throws(StorageError) {
    let (block, length) = try rangeChecked(reference)
    let expected = BlockHeader.expectedChecksum(
      block, length: length, at: reference.offset, salt: salt)
    guard BlockHeader.checksum(block) == expected else {
      throw damaged(reference, block, "its checksum does not match its bytes")
    }
    if let damage = headerDamage(reference, block, length) { throw damage }
    forgetOverlapping(reference.offset, length)
    verified.set(reference.offset)
  }

  /// What a checksum cannot tell: whether the block fits together, and whether the block is the one
  /// that was written there last, or one that was there before, because a write never reached the
  /// disk or somebody has put it back.
  private func headerDamage(
    _ reference: BlockReference, _ block: UnsafeRawPointer, _ length: Int
  ) -> StorageError? {
    guard reference.expects(BlockHeader.birth(block)) else {
      return damaged(reference, block, "it is not the block that its parent refers to, but another")
    }
    let known = knownLength.load(ordering: .relaxed)
    guard
      let reason = BlockStructure.reason(block, length: length, fileLength: known)
    else { return nil }
    // Another process may have made the file longer, and this block count what it has added.
    if let longer = try? file.length(), longer > known, longer <= UInt64(mapping.length),
      BlockStructure.reason(block, length: length, fileLength: longer) == nil
    {
      return nil
    }
    return damaged(reference, block, "\(reason)")
  }

  /// The bytes of a block as the file has them now, verified and decrypted.
  ///
  /// For blocks that are read once.
  func storedBytes(_ reference: BlockReference) throws(StorageError) -> [UInt8] {
    let (start, length) = try rangeChecked(reference)
    guard let cipher else {
      try verifyChecksum(reference)
      return [UInt8](UnsafeRawBufferPointer(start: start, count: length))
    }
    var isSound = false
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      isSound = cipher.open(start, length, at: reference.offset, to: buffer.baseAddress!)
      count = length
    }
    guard isSound else {
      throw damaged(reference, nil, "its bytes are not what was encrypted there")
    }
    let damage = bytes.withUnsafeBytes { headerDamage(reference, $0.baseAddress!, length) }
    if let damage { throw damage }
    return bytes
  }

  /// A block as a call has read it from the file: verified, and decrypted where it has to be.
  ///
  /// - Parameters:
  ///   - start: its bytes with the overhead, all of them there.
  ///   - opened: room for a decrypted block.
  func verifiedBlock(
    _ reference: BlockReference, _ start: UnsafeRawPointer, _ length: Int,
    opened: UnsafeMutableRawPointer
  ) throws(StorageError) -> UnsafeRawPointer {
    var block = start
    if let cipher {
      guard cipher.open(start, length, at: reference.offset, to: opened) else {
        throw damaged(reference, nil, "its bytes are not what was encrypted there")
      }
      block = UnsafeRawPointer(opened)
    } else {
      let expected = BlockHeader.expectedChecksum(
        start, length: length, at: reference.offset, salt: salt)
      guard BlockHeader.checksum(start) == expected else {
        throw damaged(reference, start, "its checksum does not match its bytes")
      }
    }
    if let damage = headerDamage(reference, block, length) { throw damage }
    return block
  }

  /// Where a block begins in the file and how long it is without overhead, if it lies inside the
  /// file with a sensible length.
  private func rangeChecked(
    _ reference: BlockReference
  ) throws(StorageError) -> (start: UnsafeRawPointer, length: Int) {
    let offset = reference.offset
    guard offset >= UInt64(FileHeader.pageLength * 2),
      offset < UInt64(mapping.length),
      try isInside(offset + UInt64(BlockHeader.length + blockOverhead))
    else {
      throw .damaged(
        path: file.path, block: offset, version: 0, reason: "the reference points outside the file")
    }
    parts.readAhead.willTouch(Int(offset))
    let start = storedBase + Int(offset)
    let length = storedLength(start)
    guard length >= BlockHeader.length, length <= BlockHeader.blockLengthMax,
      try isInside(offset + UInt64(length + blockOverhead))
    else {
      throw damaged(
        reference, cipher == nil ? start : nil, "its length of \(length) bytes cannot be")
    }
    parts.readAhead.willTouch(Int(offset)..<Int(offset) + length + blockOverhead)
    return (start, length)
  }

  func storedLength(_ start: UnsafeRawPointer) -> Int {
    cipher == nil ? BlockHeader.blockLength(start) : FileCipher.length(ofSealed: start)
  }

  private func isInside(_ end: UInt64) throws(StorageError) -> Bool {
    if end <= knownLength.load(ordering: .relaxed) { return true }
    // Another process may have made the file longer.
    do {
      let length = try file.length()
      if length > knownLength.load(ordering: .relaxed) { noteFileLength(length) }
      return end <= length && end <= UInt64(mapping.length)
    } catch {
      throw .system(error)
    }
  }

  override func damage(_ reference: BlockReference, _ reason: String) -> StorageError {
    let isInside = reference.offset > 0 && reference.offset < UInt64(mapping.length)
    return damaged(reference, isInside ? base + Int(reference.offset) : nil, reason)
  }

  override func damage(at block: UnsafeRawPointer, _ reason: String) -> StorageError {
    guard block >= base, block < base + mapping.length else { return damage(.none, reason) }
    return damage(BlockReference(anyAt: UInt64(block - base)), reason)
  }

  func damaged(
    _ reference: BlockReference, _ block: UnsafeRawPointer?, _ reason: String
  ) -> StorageError {
    .damaged(
      path: file.path, block: reference.offset,
      version: block.map { BlockHeader.birth($0).rawValue } ?? 0, reason: reason)
  }
}
