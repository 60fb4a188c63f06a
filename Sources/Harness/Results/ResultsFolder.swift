// The folder that a run leaves behind. A new one is made for this run alone: making it is atomic,
// so of two runs that want the same name one gets another. Where --overwrite replaces earlier
// results, files are written to a folder within, and take the place of the earlier ones when they
// are complete. Nothing is ever removed but files that a list of the tool's own names.
package import Foundation
internal import Glibc
package import Platform

/// Where the files of one run are to go.
package struct ResultsPlace: Sendable {
  /// As long as nobody else has it.
  package let runID: String
  /// As long as nobody else has it, where the place has no name given by the user.
  package let path: String
  private let isNamed: Bool
  /// Where results are that nobody has named a place for.
  package static let usualFolder = "realm-bench-results"

  /// The folder for a run that begins now, by default below `realm-bench-results`.
  package init(
    workload: String, seed: UInt64, output: String?, now: Date, shard: Shard? = nil
  ) {
    let part = shard.map { "-\($0.number)of\($0.count)" } ?? ""
    runID = "\(Self.stamp(now))-\(workload)-\(seed)\(part)"
    path = output ?? "\(Self.usualFolder)/\(runID)"
    isNamed = output != nil
  }

  /// UTC to the second, in a form that sorts and needs no quoting.
  private static func stamp(_ date: Date) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    let parts = calendar.dateComponents(
      [.year, .month, .day, .hour, .minute, .second], from: date)
    return String(
      format: "%04d%02d%02dT%02d%02d%02dZ", parts.year!, parts.month!, parts.day!, parts.hour!,
      parts.minute!, parts.second!)
  }

  /// Refuses a place that cannot be used, without touching anything.
  package func refuseObstacle(overwrites: Bool) throws(UsageError) {
    guard isNamed else { return try refuseUsualObstacle() }
    try NameLength.refuse(path, flag: "--output", room: Self.bytesBelow)
    let contents: FolderContents
    do throws(SystemError) {
      guard let kind = try FileCalls.kind(path, followsLinks: true) else {
        if try FileCalls.kind(path) == nil { return }
        throw SystemError(call: "stat", path: path, code: ENOENT)
      }
      if case .other = kind { throw SystemError(call: "stat", path: path, code: ENODEV) }
      guard case .folder = kind else { throw SystemError(call: "stat", path: path, code: ENOTDIR) }
      if overwrites, FolderLock.isTaken(path) {
        throw SystemError(call: "flock", path: path, code: EWOULDBLOCK)
      }
      contents = overwrites ? try FolderContents(of: path) : FolderContents()
    } catch {
      throw UsageError(obstacle(error))
    }
    guard overwrites else {
      throw UsageError(
        "'\(path)' exists already; give another --output, or --overwrite to replace its results")
    }
    if !contents.foreign.isEmpty {
      throw UsageError(
        "'\(path)' holds what no run has written: \(contents.foreignWords); --overwrite replaces "
          + "results alone: move that elsewhere, or give another --output")
    }
  }

  /// More than the longest path in a folder: one of earlier results, of a run of many parts.
  private static let bytesBelow = 400

  /// The same for the folder that all go to which have no name.
  private func refuseUsualObstacle() throws(UsageError) {
    let folder = Self.usualFolder
    let words: String? =
      switch try? FileCalls.kind(folder, followsLinks: true) {
      case .folder?: nil
      case let kind?: kind.words
      case nil: (try? FileCalls.kind(folder)) == nil ? nil : "a link to nothing"
      }
    guard let words else { return }
    throw UsageError(
      "'\(folder)', where results go, is \(words); move it elsewhere, or give an --output")
  }

  private func obstacle(_ error: SystemError) -> String {
    switch error.code {
    case ENOENT: "'\(path)' is a link to nothing; remove it, or make the folder that it names"
    case EWOULDBLOCK:
      "another run is writing to '\(path)'; wait for its end, or give another --output"
    case ENODEV: "'\(path)' is \(EntryKind.other.words); --output needs a folder"
    case ENOTDIR: "'\(path)' is a file, or below one; --output needs a folder"
    default: "--output '\(path)' cannot be used: \(error.reason)"
    }
  }

  /// Makes the folder, or one within the folder whose results are to be replaced.
  /// - Parameter names: those of the files that the verb may write.
  /// - Throws: `UsageError` for a place that cannot be used, `ResultsError` for a disk that is full
  ///   or broken.
  package func make(
    overwrites: Bool, withHistograms: Bool = false, names: Set<String>
  ) throws -> ResultsFolder {
    try refuseObstacle(overwrites: overwrites)
    do throws(SystemError) {
      let made = try claim()
      let folder = ResultsFolder(
        path: made.path, destination: made.destination, runID: made.runID, lock: made.lock)
      try folder.begin(withHistograms: withHistograms, names)
      return folder
    } catch {
      switch error.code {
      case EEXIST:
        throw UsageError("'\(path)' has been made by another run meanwhile; give another --output")
      case EWOULDBLOCK: throw UsageError(obstacle(error))
      default:
        let words = "cannot make the results folder '\(path)': \(error.reason)"
        if [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM].contains(error.code) {
          throw ResultsError(words)
        }
        throw UsageError(words)
      }
    }
  }

  private typealias Claim = (path: String, destination: String, runID: String, lock: FolderLock)

  private func claim() throws(SystemError) -> Claim {
    if isNamed, try FileCalls.kind(path, followsLinks: true) != nil {
      // Whoever has the lock writes here; a run that is killed loses it.
      let lock = try FolderLock(path)
      let inner = try FileCalls.makeNewFolder("\(path)/\(KnownNames.unfinished)\(runID)")
      return (inner, path, runID, lock)
    }
    try FileCalls.makeFolders(Platform.folder(of: path))
    if isNamed {
      try FileCalls.makeFolder(path)
      return (path, path, runID, try FolderLock(path))
    }
    let made = try FileCalls.makeNewFolder(path)
    let number = Substring(made.utf8.dropFirst(path.utf8.count))
    return (made, made, runID + number, try FolderLock(made))
  }
}

/// The folder of one run, which is this process's alone.
package final class ResultsFolder: Sendable {
  /// Where the files are while the run goes on.
  package let path: String
  /// Where they are when it has come to its end.
  package let destination: String
  package let runID: String
  private let lock: FolderLock
  /// What has become of earlier results that could not be removed.
  private let remnant = Monitor<String?>(nil)
  /// Files that somebody still uses when the list is written, and may change or make later.
  private let leftOpen = Monitor<Set<String>>([])

  fileprivate init(path: String, destination: String, runID: String, lock: FolderLock) {
    self.path = path
    self.destination = destination
    self.runID = runID
    self.lock = lock
  }

  /// Whether earlier results are in the place that these are to take.
  package var replaces: Bool { path != destination }

  /// Where the parts of a history are while a run goes on.
  package var historyParts: String { path + "/history" }

  fileprivate func begin(withHistograms: Bool, _ names: Set<String>) throws(SystemError) {
    // First of all: whatever a process leaves that is killed now is known to be the tool's.
    try writeManifest(FolderManifest(runId: runID, status: "running", names: names.sorted()))
    if withHistograms { try FileCalls.makeFolder(path + "/histograms") }
  }

  /// Writes a whole file; one that is there stays as it is until the new one is complete.
  package func write(_ text: String, to name: String) throws(SystemError) {
    try FileCalls.replace(path + "/" + name, by: text)
  }

  package func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
    try FileCalls.replace(path + "/" + name, by: bytes)
  }

  /// Lists a file of an engine, and what it has beside it, whatever becomes of them: somebody uses
  /// it until the process ends.
  func leaveOpen(_ name: String) {
    let names = ([""] + KnownNames.besideAnyFile).map { name + $0 }.filter(KnownNames.isRealmFile)
    leftOpen.withLock { $0.formUnion(names) }
  }

  static let reserveName = "reserve.tmp"

  /// Keeps some of the disk free for the results: a run that fills it leaves none for them.
  /// - Throws: where there is not even as much now.
  package func reserve(bytes: Int) throws(SystemError) {
    do throws(SystemError) {
      try FileCalls.allocate(bytes, to: path + "/" + Self.reserveName)
    } catch {
      useReserve()
      // A limit on the length of a file, or a file system that cannot: then it goes without.
      if [ENOSPC, EDQUOT].contains(error.code) { throw error }
    }
  }

  /// Gives it back, when the results are to be written.
  package func useReserve() { try? FileCalls.remove(path + "/" + Self.reserveName) }

  private func writeManifest(_ manifest: FolderManifest) throws(SystemError) {
    try write(manifest.text, to: FolderManifest.fileName)
  }

  // MARK: - End

  /// Lists what the folder holds, and puts it in the place of earlier results where there are any.
  ///
  /// Results that have not come to their end replace only such as have not either.
  /// - Returns: where the files are now.
  /// - Throws: `ResultsError` that says where they are instead.
  package func end(isComplete: Bool) throws -> String {
    do {
      guard replaces else {
        try seal(isComplete: isComplete)
        return path
      }
      let earlier = try FolderContents(of: destination, excluding: inner)
      guard isComplete || !earlier.isComplete else {
        try seal(isComplete: false)
        return path
      }
      try moveRunDocuments(from: path, to: destination)
      try seal(isComplete: isComplete)
      do {
        try replace(earlier)
      } catch {
        // Best effort: where the results are is told.
        try? moveRunDocuments(from: destination, to: path)
        try? seal(isComplete: isComplete)
        throw error
      }
      return destination
    } catch let error as SystemError {
      throw ResultsError(
        replaces
          ? "the results are in '\(path)' and could not all be listed or moved to '\(destination)': "
            + error.reason
          : "the list of the files in '\(path)' could not be written: \(error.reason)")
    }
  }

  /// The name of the folder within.
  private var inner: String {
    String(Substring(path.utf8.dropFirst(destination.utf8.count + 1)))
  }

  /// Writes the list of all files: into run.json, or manifest.json where there is none.
  private func seal(isComplete: Bool) throws {
    let run = path + "/run.json"
    let isRun = try FileCalls.kind(run) != nil
    let marker = isRun ? "run.json" : FolderManifest.fileName
    if isRun { try? FileCalls.remove(path + "/" + FolderManifest.fileName) }
    var files = try listed("")
    let open = leftOpen.withLock { $0 }
    files.removeAll { $0.name == marker || open.contains($0.name) }
    files += open.map { ListedFile(name: $0) }
    files.append(ListedFile(name: marker, hash: ListedFile.ownHash))
    files.sort { $0.name < $1.name }
    guard isRun else {
      let status = isComplete ? "complete" : "partial"
      try writeManifest(FolderManifest(runId: runID, status: status, files: files))
      return
    }
    var document = try RunDocument(path: run)
    document.files = files
    try write(try document.sealed(), to: "run.json")
  }

  private func listed(_ folder: String) throws(SystemError) -> [ListedFile] {
    var files: [ListedFile] = []
    for entry in try FileCalls.names(in: path + "/" + folder) {
      let name = folder + entry
      switch try FileCalls.kind(path + "/" + name) {
      case .file(let bytes):
        // Whoever opens a Realm file writes to the files beside it.
        let isHashed = !KnownNames.isRealmFile(name) || name == KnownNames.realmFile
        files.append(
          isHashed
            ? ListedFile(name: name, bytes: bytes, hash: FileCalls.hash(of: path + "/" + name))
            : ListedFile(name: name))
      case .folder where KnownNames.isPart(name): files.append(ListedFile(name: name + "/"))
      case .folder where KnownNames.folders.contains(name): files += try listed(name + "/")
      default: continue
      }
    }
    return files
  }

  /// Lets the documents of this run and its parts name the place where they will be.
  private func moveRunDocuments(from old: String, to new: String) throws {
    for file in try FolderContents(of: path).files where ("/" + file).hasSuffix("/run.json") {
      guard var document = try? RunDocument(path: path + "/" + file) else { continue }
      document.move(from: old, to: new)
      // The list of a part has the hash of its document.
      try write(try document.sealed(), to: file)
    }
  }

  /// Puts all files in the place of earlier ones.
  ///
  /// Lists go first and come last, so that nobody takes half of both for one run, and what is in
  /// the folder goes and comes whole. A process that is killed meanwhile leaves the lists of both,
  /// by which the next run knows whose the files are; where a name is refused all is as before.
  private func replace(_ earlier: FolderContents) throws {
    let outer = earlier.topNames.filter { !$0.hasPrefix(KnownNames.unfinished) }
    let new = try FolderContents(of: path).topNames
    for (name, _) in earlier.foreign {
      let top = FolderContents.topName(of: name)
      guard outer.contains(top) || new.contains(top) else { continue }
      throw ResultsError(
        "the results stay in '\(path)': '\(destination)/\(name)' has been made or changed meanwhile"
      )
    }
    let aside = path + KnownNames.earlier
    let lists = FileList.markers
    try FileCalls.makeFolder(aside)
    let hasOwnList = lists.contains(where: outer.contains)
    if !hasOwnList { try writeList(of: earlier, to: aside) }
    let moves =
      (lists.filter(outer.contains) + outer.filter { !lists.contains($0) })
      .map { (destination + "/" + $0, aside + "/" + $0) }
      + (new.filter { !lists.contains($0) } + lists.filter(new.contains))
      .map { (path + "/" + $0, destination + "/" + $0) }
    for (number, (from, to)) in moves.enumerated() {
      do throws(SystemError) {
        try FileCalls.rename(from, to: to)
      } catch {
        for (from, to) in moves[..<number].reversed() { try? FileCalls.rename(to, to: from) }
        if !hasOwnList { try? FileCalls.remove(aside + "/" + FolderManifest.fileName) }
        FileCalls.removeIfEmpty(aside)
        throw ResultsError(
          "the results stay in '\(path)': '\(from)' cannot be moved: \(error.reason); "
            + "'\(destination)' holds the earlier results as they were")
      }
    }
    FileCalls.removeIfEmpty(path)
    do throws(SystemError) {
      // With what earlier runs had not brought to its end.
      try FolderContents(of: destination).removeFiles { $0.hasPrefix(KnownNames.unfinished) }
    } catch {
      remnant.withLock {
        $0 = "what is left of the earlier results is in '\(aside)': \(error.reason)"
      }
    }
  }

  /// Writes a list of earlier results that have none: of an earlier version, or left where a
  /// process was killed in the midst of replacing them.
  private func writeList(of earlier: FolderContents, to aside: String) throws {
    var files: [ListedFile] = []
    for name in earlier.files where !name.hasPrefix(KnownNames.unfinished) {
      guard case .file(let bytes)? = try FileCalls.kind(destination + "/" + name) else { continue }
      let hash = FileCalls.hash(of: destination + "/" + name)
      files.append(ListedFile(name: name, bytes: bytes, hash: hash))
    }
    files += earlier.folders.filter(KnownNames.isPart).map { ListedFile(name: $0 + "/") }
    files.append(ListedFile(name: FolderManifest.fileName, hash: ListedFile.ownHash))
    let manifest = FolderManifest(
      runId: runID, status: earlier.isComplete ? "complete" : "partial", files: files)
    try FileCalls.replace(aside + "/" + FolderManifest.fileName, by: manifest.text)
  }
}

extension ResultsFolder {
  /// Ends the folder of a verb that has come to its exit code, and tells where results are that did
  /// not take the place of earlier ones.
  func end(isComplete: Bool, otherwise code: ExitCode, _ console: Console) -> ExitCode {
    do {
      let place = try end(isComplete: isComplete)
      console.keeps(place)
      if place != destination {
        console.note(
          "'\(destination)' still holds the earlier results; those of this run, which are not "
            + "complete, are in '\(place)'")
      }
      if let remnant = remnant.withLock({ $0 }) { console.note("warning: " + remnant) }
      return code
    } catch {
      console.note("error: \(error.explanation)")
      return code == .success || code == .inconclusive ? .failed : code
    }
  }
}
