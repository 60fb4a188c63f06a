// A disk in memory for crash tests: it records what the engine does and builds the disks that a
// power cut or the kill of a process may leave behind. What a power cut may leave:
// DiskReplay.swift.
internal import Glibc
package import Platform

/// Files in memory whose durable content is known at every operation.
///
/// Reads and maps see each file through its own memory file, so a map has a stable address, may
/// reach past the end and sees later writes. Stores through a shared map are not operations: a
/// synchronize of that file takes its whole content then, a power cut before loses them.
package final class SimulatedDisk: FileSystem {
  struct State {
    /// Where the recorded history starts.
    var start: DurableState
    var operations: [DiskOperation] = []
    var directory: [String: SimulatedContent] = [:]
    var folders: Set<String> = ["/"]
    var nextFile: UInt64 = 1
    var locks = ByteLocks()
    var nextOwner: UInt64 = 1
    /// A replay of some operations that the next image may go on from.
    var replay: DiskReplay
  }

  /// Names this start of the simulated machine.
  package let bootIdentifier: UInt64
  package let allowsUnpromptedWork: Bool
  /// Whether each opening of a file is told of a sync that has failed in another one.
  let tellsAllOfFailedSyncs: Bool
  /// Its own number, so that files of two disks never look like the same file.
  let device: UInt64
  /// Its number among the disks of the process.
  package var number: UInt64 { device & (1 << 60 - 1) }
  let state: Monitor<State>
  private let isOff = Atomic(false)

  /// An empty disk.
  ///
  /// - Parameters:
  ///   - allowsUnpromptedWork: whether stores on it tidy by themselves, as in an explored program,
  ///     whose time is virtual.
  ///   - tellsAllOfFailedSyncs: whether each opening of a file is told once of a sync that has
  ///     failed in another one, as on Linux since 4.13. Else a sync that ends well at the same time
  ///     may have lost what it was for, and nobody can know.
  package convenience init(
    allowsUnpromptedWork: Bool = false, tellsAllOfFailedSyncs: Bool = false
  ) {
    self.init(
      DurableState(), bootIdentifier: systemRandom() | 1,
      allowsUnpromptedWork: allowsUnpromptedWork, tellsAllOfFailedSyncs: tellsAllOfFailedSyncs)
  }

  private static let lastDevice = Atomic<UInt64>(1 << 60)

  private init(
    _ durable: DurableState, bootIdentifier: UInt64, allowsUnpromptedWork: Bool = false,
    tellsAllOfFailedSyncs: Bool = false
  ) {
    self.allowsUnpromptedWork = allowsUnpromptedWork
    self.tellsAllOfFailedSyncs = tellsAllOfFailedSyncs
    var state = State(start: durable, replay: DiskReplay(durable))
    for (path, file) in durable.directory {
      let content = SimulatedContent(number: file)
      content.fill(durable.files[file] ?? SparseBytes())
      state.directory[path] = content
      state.nextFile = max(state.nextFile, file + 1)
      Self.addFolders(of: path, to: &state)
    }
    self.bootIdentifier = bootIdentifier
    device = Self.lastDevice.add(1, ordering: .relaxed).newValue
    self.state = Monitor(state)
  }

  // MARK: - History and images

  /// How many operations were done.
  ///
  /// What is durable at this count stays so in all images cut here.
  package var operationCount: Int { state.withLock { $0.operations.count } }

  /// What was done, oldest first.
  package var operations: [DiskOperation] { state.withLock { $0.operations } }

  /// Makes everything so far durable and forgets how it came: the history starts here.
  package func startHistory() {
    state.withLock { state in
      var random = RandomGenerator(seed: 0)
      for content in state.directory.values where content.hasSharedMap {
        Self.log(.write(file: content.number, offset: 0, bytes: content.bytes()), &state)
      }
      Self.advance(&state, to: state.operations.count)
      state.start = state.replay.afterPowerCut(.keepsEverything, &random)
      state.replay = DiskReplay(state.start)
      state.operations = []
    }
  }

  /// A disk as a power cut after the first `operation` operations may leave it, after a restart.
  ///
  /// `random` picks among what is possible: how the cut treats unsynchronized operations, and
  /// which. Images in the order of their operations are cheapest.
  package func crashImage(
    cutAfterOperation operation: Int? = nil, random: inout RandomGenerator
  ) -> SimulatedDisk {
    let cut = PowerCut.allCases.randomElement(using: &random)!
    return crashImage(cutAfterOperation: operation, cut, random: &random)
  }

  /// The same with a given kind of cut.
  package func crashImage(
    cutAfterOperation operation: Int? = nil, _ cut: PowerCut, random: inout RandomGenerator
  ) -> SimulatedDisk {
    let replay = state.withLock { state in
      Self.advance(&state, to: operation ?? state.operations.count)
      return state.replay
    }
    return SimulatedDisk(
      replay.afterPowerCut(cut, &random), bootIdentifier: random.next() | 1)
  }

  /// A disk as the kill of all processes leaves it: nothing that was written is gone, nothing more
  /// is durable than before, all locks are free, and the machine was not restarted.
  ///
  /// Shared maps keep their stores too, when the kill is now (no `operation`).
  package func killImage(cutAfterOperation operation: Int? = nil) -> SimulatedDisk {
    let (start, operations, shared) = state.withLock { state in
      let count = operation ?? state.operations.count
      precondition(count <= state.operations.count, "no such operation")
      // At the same moment as the operations, which wait for this lock: idle work may go on
      // meanwhile, and what it stores must not be seen without what it has written before.
      let shared = operation == nil ? state.directory.filter { $0.value.hasSharedMap } : [:]
      return (state.start, Array(state.operations[..<count]), shared.mapValues { $0.bytes() })
    }
    let image = SimulatedDisk(start, bootIdentifier: bootIdentifier)
    image.state.withLock { state in
      var files = Dictionary(
        state.directory.values.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
      for operation in operations { Self.redo(operation, &state, &files) }
      state.operations = operations
      for (path, bytes) in shared { state.directory[path]?.replace(bytes) }
    }
    return image
  }

  /// Ends the simulated machine: from now on every call fails with EIO, and nothing is recorded.
  ///
  /// For engines whose threads may still be at work when their disk's images are looked at.
  package func powerOff() {
    isOff.store(true, ordering: .sequentiallyConsistent)
    state.withLock { _ in }
    state.notifyAll()
  }

  // No step of an exploration, whose programs never switch off: every call asks.
  var isPowerOff: Bool { isOff.peek() }

  /// Brings the kept replay to a number of operations.
  static func advance(_ state: inout State, to operation: Int) {
    precondition(
      (0...state.operations.count).contains(operation),
      "operation \(operation) of \(state.operations.count)")
    if operation < state.replay.position { state.replay = DiskReplay(state.start) }
    while state.replay.position < operation {
      state.replay.take(state.operations[state.replay.position])
    }
  }

  /// Does an operation of another disk's history on this one's cache.
  ///
  /// Files that had lost their name before the history began are not there, and nobody can see
  /// them.
  private static func redo(
    _ operation: DiskOperation, _ state: inout State, _ files: inout [UInt64: SimulatedContent]
  ) {
    switch operation.kind {
    case .create(let path, let file):
      let content = SimulatedContent(number: file)
      files[file] = content
      state.directory[path] = content
      state.nextFile = max(state.nextFile, file + 1)
      addFolders(of: path, to: &state)
    case .rename(let path, let newPath, _):
      state.directory[newPath] = state.directory.removeValue(forKey: path)
      addFolders(of: newPath, to: &state)
    case .remove(let path): state.directory[path] = nil
    case .write(let file, let offset, let bytes): files[file]?.place(bytes[...], at: offset)
    case .setLength(let file, let length): files[file]?.setLength(length)
    case .synchronize, .failedSynchronize, .synchronizeFolder: break
    }
  }

  // MARK: - FileSystem

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    let path = Self.normal(path)
    try checkPower("open", path)
    let (content, owner) = try state.withLock {
      (state) throws(SystemError) -> (SimulatedContent, UInt64) in
      if state.folders.contains(path) { throw SystemError(call: "open", path: path, code: EISDIR) }
      state.nextOwner += 1
      if let content = state.directory[path] {
        if mode.contains(.exclusive) {
          throw SystemError(call: "open", path: path, code: EEXIST)
        }
        return (content, state.nextOwner)
      }
      if mode.isDisjoint(with: [.create, .exclusive]) {
        throw SystemError(call: "open", path: path, code: ENOENT)
      }
      let content = SimulatedContent(number: state.nextFile)
      state.nextFile += 1
      state.directory[path] = content
      Self.addFolders(of: path, to: &state)
      Self.log(.create(path: path, file: content.number), &state)
      return (content, state.nextOwner)
    }
    return SimulatedFile(
      disk: self, path: path, content: content, owner: owner, isWritable: mode.contains(.writable))
  }

  /// Files without a name are gone after a crash, so the system's own will do.
  package func openInMemory(name: String) throws(SystemError) -> any File {
    try checkPower("memfd_create", name)
    return try LinuxFileSystem().openInMemory(name: name)
  }

  /// What a file holds; nil where there is none.
  package func bytes(of path: String) -> [UInt8]? {
    let path = Self.normal(path)
    return state.withLock { $0.directory[path]?.bytes() }
  }

  package func exists(_ path: String) -> Bool {
    let path = Self.normal(path)
    return state.withLock { $0.directory[path] != nil || $0.folders.contains(path) }
  }

  /// Folders are those that hold or held a file.
  package func isDirectory(_ path: String) -> Bool {
    let path = Self.normal(path)
    return state.withLock { $0.folders.contains(path) }
  }

  package func isOnNetwork(_ path: String) -> Bool { false }

  package func remove(_ path: String) throws(SystemError) {
    let path = Self.normal(path)
    try checkPower("unlink", path)
    try state.withLock { (state) throws(SystemError) in
      if state.directory.removeValue(forKey: path) == nil {
        let code = state.folders.contains(path) ? EISDIR : ENOENT
        throw SystemError(call: "unlink", path: path, code: code)
      }
      Self.log(.remove(path: path), &state)
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    try rename(path, to: newPath, replaces: true)
  }

  package func rename(_ path: String, toNew newPath: String) throws(SystemError) {
    try rename(path, to: newPath, replaces: false)
  }

  private func rename(
    _ path: String, to newPath: String, replaces: Bool
  ) throws(SystemError) {
    let path = Self.normal(path)
    let newPath = Self.normal(newPath)
    try checkPower("rename", path)
    try state.withLock { (state) throws(SystemError) in
      if state.folders.contains(newPath) {
        throw SystemError(call: "rename", path: path, code: EISDIR)
      }
      if !replaces, state.directory[newPath] != nil {
        throw SystemError(call: "rename", path: path, code: EEXIST)
      }
      guard let content = state.directory.removeValue(forKey: path) else {
        throw SystemError(call: "rename", path: path, code: ENOENT)
      }
      state.directory[newPath] = content
      Self.addFolders(of: newPath, to: &state)
      Self.log(.rename(path: path, newPath: newPath, file: content.number), &state)
    }
  }

  package func synchronizeFolder(_ path: String) throws(SystemError) {
    let path = Self.normal(path)
    try checkPower("fsync", path)
    try state.withLock { (state) throws(SystemError) in
      if !state.folders.contains(path) {
        let code = state.directory[path] == nil ? ENOENT : ENOTDIR
        throw SystemError(call: "open", path: path, code: code)
      }
      Self.log(.synchronizeFolder(path: path), &state)
    }
  }

  // MARK: - Helpers

  func checkPower(_ call: String, _ path: String) throws(SystemError) {
    if isPowerOff {
      throw SystemError(call: call, path: path, code: EIO)
    }
  }

  static func log(_ kind: DiskOperation.Kind, _ state: inout State) {
    let operation = DiskOperation(kind: kind, thread: ThreadToken.current)
    state.operations.append(operation)
    noteInSchedule("disk operation \(state.operations.count): \(operation.description)")
  }

  private static func addFolders(of path: String, to state: inout State) {
    var path = path
    while path != "/" {
      path = folder(of: path)
      state.folders.insert(path)
    }
  }

  /// An absolute path without ".", ".." and doubled slashes.
  ///
  /// Relative paths start at "/".
  private static func normal(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }
}
