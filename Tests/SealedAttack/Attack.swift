// Attacks on one file, one process each, and how they end.
internal import Glibc
internal import Platform
internal import Storage

/// A sample file, and what is done with each altered copy of it.
struct Attack {
  let folder: String
  let key: [UInt8]?
  /// Whether processor time and memory are limited.
  let isLimited: Bool
  /// Whether the space journal and the record are altered instead of what they lead to.
  let isOfJournal: Bool
  /// Whether blocks are put into others.
  let isNested: Bool
  /// How often it is written to, and all of it read again.
  let rounds: Int
  private let states: [[UInt8]]
  private let sample: SealedFile

  /// What the process of one attack ends with.
  private enum Ending {
    static let passed: Int32 = 0
    static let error: Int32 = 3
  }

  /// Memory that reading and writing may take beyond what opening took.
  private static let memoryMax: UInt64 = 512 << 20
  /// What the documented stop says behind the name of the file.
  private static let stopMark = "is damaged: block "

  init(
    folder: String, key: [UInt8]?, isLimited: Bool, isOfJournal: Bool, isNested: Bool, rounds: Int
  ) throws {
    self.isNested = isNested
    self.rounds = rounds
    self.isOfJournal = isOfJournal
    self.folder = folder
    self.key = key
    self.isLimited = isLimited
    for name in ["sample.realm", "sample.realm.lock"] { unlink("\(folder)/\(name)") }
    states = try SampleFile.make(
      path: "\(folder)/sample.realm", key: key, seed: 1, hasParts: isOfJournal)
    sample = try SealedFile(states.last!, key: key, hasParts: isOfJournal)
  }

  /// Runs attacks and prints how many ended how.
  ///
  /// - Returns: failures.
  func runAll(_ seeds: Range<UInt64>) -> Int {
    var outcomes: [String: Int] = [:]
    var failures = 0
    for seed in seeds {
      let (outcome, failure) = runChild(seed)
      outcomes[outcome, default: 0] += 1
      guard let failure else { continue }
      failures += 1
      print("FAILED seed \(seed): \(failure)")
      fflush(nil)
    }
    for (outcome, count) in outcomes.sorted(by: { $0.value > $1.value }) {
      print("\(count) \(outcome)")
    }
    let kinds = sample.byKind.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.count)" }
    print("blocks by kind: \(kinds.joined(separator: ", "))")
    return failures
  }

  /// Runs one attack in a child, and says how it ended; with a text if that is a failure.
  private func runChild(_ seed: UInt64) -> (outcome: String, failure: String?) {
    let path = "\(folder)/attacked-\(seed).realm"
    let output = "\(folder)/output-\(seed)"
    fflush(nil)
    let child = fork()
    if child == 0 {
      let file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      dup2(file, 2)
      _exit(run(seed, path))
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    let lines = String(decoding: SampleFile.bytes(output), as: UTF8.self).split(separator: "\n")
    for name in [path, "\(path).lock", output] { unlink(name) }
    let words = ["Fatal error", "Precondition failed", "Assertion failed"]
    let last = lines.last { line in words.contains { line.contains($0) } } ?? lines.last ?? ""
    let signal = status & 127
    if signal == 0, status >> 8 == Ending.passed { return ("passed", nil) }
    if signal == 0, status >> 8 == Ending.error { return ("typed errors", nil) }
    if [SIGILL, SIGTRAP, SIGABRT].contains(signal), last.contains("'\(path)' \(Self.stopMark)") {
      return ("documented stops", nil)
    }
    let isSlow = [SIGXCPU, SIGALRM, SIGKILL].contains(signal)
    let how = isSlow ? "time-out" : "signal \(signal), status \(status >> 8)"
    let notes = lines.filter { $0.hasPrefix("mutation ") }.map { "\n    \($0)" }.joined()
    return ("failures", "\(how): \(last)\(notes)")
  }

  /// Alters the file and goes through it.
  func run(_ seed: UInt64, _ path: String) -> Int32 {
    var file = sample
    if isOfJournal || isNested {
      var mutations = JournalMutations(seed: seed)
      if isNested { mutations.nest(&file) } else { mutations.make(&file) }
      for note in mutations.notes { say("mutation \(note)") }
    } else {
      var mutations = Mutations(seed: seed)
      mutations.make(&file, former: Array(states.dropLast()))
      for note in mutations.notes { say("mutation \(note)") }
    }
    let bytes = file.sealed()
    let target = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(write(target, bytes, bytes.count) == bytes.count, "no room in \(folder)")
    close(target)
    if isLimited {
      var limit = rlimit(rlim_cur: 5, rlim_max: 6)
      setrlimit(__rlimit_resource_t(0), &limit)
      alarm(180)
    }
    do throws(StorageError) {
      let store = try Store.open(
        StoreOptions(path: path, durability: .memory, encryptionKey: key))
      if isLimited { limitMemory() }
      let snapshot = try store.pinNewest()
      var reading = try Reading(snapshot.reader, snapshot.root)
      reading.readAll()
      for round in 0..<rounds {
        try Writing.change(store, variant: seed + UInt64(round))
        let later = try store.pinNewest()
        var again = try Reading(later.reader, later.root)
        again.readAll()
      }
      _ = try store.checkInvariants()
    } catch {
      if "\(error)".contains(path) { return Ending.error }
      say("the error does not name the file: \(error)")
      return 1
    }
    return Ending.passed
  }

  private func limitMemory() {
    let statm = procBytes("/proc/self/statm")
    let pages = UInt64(String(decoding: statm.prefix { $0 != 32 }, as: UTF8.self)) ?? 0
    let bytes = rlim_t(pages * 4096 + Self.memoryMax)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    setrlimit(__rlimit_resource_t(9), &limit)
  }

  private func procBytes(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(0, read(file, buffer.baseAddress!, 4096))
    }
  }

  /// To the standard error output, as stops do.
  private func say(_ line: String) {
    let line = line + "\n"
    _ = line.withCString { write(2, $0, strlen($0)) }
  }
}
