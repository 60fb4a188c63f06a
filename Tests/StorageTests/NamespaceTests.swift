// A file among processes that see it in different ways: by bind mounts, in other namespaces of
// processes, as other users, on a file system that is read-only or full, or with attributes that
// forbid to write. Only the administrator can make these; for others the tests are left out.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// A running shell, with `$P` for the program that commits.
private struct Script {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()

  struct End {
    let isSuccess: Bool
    let isSignalled: Bool
    let output: String
    let errors: String
    var last: UInt64 { ProcessDeathTests.lastNumber(Array(output.utf8)) }
  }

  init(_ text: String, folder: String = "/") throws {
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let program = ProcessDeathTests.executable.path
    process.arguments = ["-c", "cd '\(folder)'; P='\(program)'; \(text)"]
    process.standardOutput = output
    process.standardError = errors
    try process.run()
  }

  /// Waits until so many lines have come; false when the script ends before.
  func waits(lines count: Int) -> Bool {
    var lines = 0
    while lines < count {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return false }
      lines += data.count { $0 == 10 }
    }
    return true
  }

  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  func end() -> End {
    let output = output.fileHandleForReading.readDataToEndOfFile()
    let errors = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // A shell tells of a signal by a status above 128.
    let isExit = process.terminationReason == .exit
    return End(
      isSuccess: isExit && process.terminationStatus == 0,
      isSignalled: !isExit || process.terminationStatus == 128 + SIGBUS
        || process.terminationStatus == 128 + SIGSEGV,
      output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }
}

/// Whether this process may make namespaces and mounts in them.
private let canMakeNamespaces: Bool = {
  guard geteuid() == 0 else { return false }
  return (try? Script("unshare -m true"))?.end().isSuccess ?? false
}()

@Suite(.serialized, .ownThreads, .enabled(if: canMakeNamespaces)) struct NamespaceTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("data.realm") }

  private func run(_ text: String) throws -> Script.End {
    try Script(text, folder: folder.path).end()
  }

  private func number() throws -> UInt64? {
    let store = try Store.open(StoreOptions(path: path))
    #expect(try store.checkInvariants().findings == [])
    return try ProcessDeathTests.number(store.pinNewest())
  }

  // MARK: - Mounts

  @Test func aBindMountOfTheFileIsRefusedWhileItIsOpen() throws {
    let store = try Store.open(StoreOptions(path: path))
    let mount = "touch b.realm; mount --bind data.realm b.realm"
    let end = try run("unshare -m sh -c \"\(mount); $P b.realm 1\"")
    #expect(!end.isSuccess && end.errors.contains("a bind mount"), "\(end.errors)")
    withExtendedLifetime(store) {}
  }

  /// Both names lead to one lock file.
  @Test func aBindMountOfTheFolderIsTheSameFolder() throws {
    _ = folder.makeFolder("b")
    let first = try Script("$P data.realm 60", folder: folder.path)
    let second = try run("unshare -m sh -c \"mount --bind . b; $P b/data.realm 60\"")
    let end = first.end()
    #expect(end.isSuccess && second.isSuccess, "\(end.errors)\(second.errors)")
    #expect(try number() == 120)
  }

  /// Both get thirty lines further, the reader without an error.
  private func expectGoingOn(_ reader: Script, beside writer: Script) {
    #expect(reader.waits(lines: 30), "the reader has ended")
    reader.kill()
    #expect(writer.waits(lines: 30), "the writer has ended")
    writer.kill()
    let errors = reader.end().errors
    #expect(errors.isEmpty, "\(errors)")
  }

  @Test func aReaderOfAReadOnlyMountBesideAWriter() throws {
    #expect(try run("$P data.realm 3").isSuccess)
    _ = folder.makeFolder("b")
    let mount = "mount --bind . b && mount -o remount,bind,ro b"
    let reader = try Script(
      "exec unshare -m sh -c \"\(mount) && exec $P b/data.realm watch\"", folder: folder.path)
    let writer = try Script("exec $P data.realm", folder: folder.path)
    expectGoingOn(reader, beside: writer)
    let writing = try run("unshare -m sh -c \"\(mount) && $P b/data.realm 1\"")
    #expect(!writing.isSuccess && writing.errors.contains("No permission"), "\(writing.errors)")
    _ = writer.end()
    _ = try number()
  }

  /// Space runs out under the file, and under its lock file: errors, never a signal.
  @Test func aFullFileSystem() throws {
    _ = folder.makeFolder("b")
    for lock in ["true", "rm b/data.realm.lock"] {
      for limit in ["size=400k", "nr_inodes=3"] {
        let end = try run(
          """
          unshare -m sh -c 'mount -t tmpfs -o \(limit) none b && '$P' b/data.realm 9 && \(lock) &&
            (dd if=/dev/zero of=b/fill bs=1k count=2000 2>/dev/null; for i in 1 2 3; do
              '$P' b/data.realm 30; echo status $? >&2; '$P' b/data.realm 30 memory; echo status $? >&2
            done; rm -f b/fill; '$P' b/data.realm 5)'
          """)
        #expect(end.isSuccess, "\(limit), \(lock): \(end.errors)")
        #expect(
          !end.errors.contains("status 135") && !end.errors.contains("status 139"),
          "\(limit), \(lock): \(end.errors)")
      }
    }
  }

  // MARK: - Processes

  /// Their numbers are equal.
  @Test func processesOfTwoNamespaces() throws {
    let script = "exec unshare -p -f --kill-child $P data.realm"
    let children = try (0..<3).map { _ in try Script("\(script) 60", folder: folder.path) }
    for child in children {
      let end = child.end()
      #expect(end.isSuccess, "\(end.errors)")
    }
    #expect(try number() == 180)
    // One of them dies with the lock.
    let holder = try Script("\(script) hold", folder: folder.path)
    #expect(holder.waits(lines: 1))
    let waiter = try Script("\(script) 20", folder: folder.path)
    holder.kill()
    _ = holder.end()
    let end = waiter.end()
    #expect(end.isSuccess, "\(end.errors)")
    #expect(try number() == 200)
  }

  // MARK: - Users

  /// A user who may only read, beside a writer who is somebody else.
  @Test(arguments: ["", " memory"]) func aReaderOfAnotherUser(durability: String) throws {
    #expect(try run("$P data.realm 3\(durability); chmod 755 .; chmod 644 data.realm*").isSuccess)
    let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
    // Nobody else may look into the folder of the build, perhaps.
    #expect(try run("cp $P program; chmod 755 program").isSuccess)
    try #require(try run("\(user) test -x program").isSuccess)
    let reader = try Script(
      "exec \(user) ./program data.realm watch\(durability)", folder: folder.path)
    let writer = try Script("exec $P data.realm \(Int.max)\(durability)", folder: folder.path)
    expectGoingOn(reader, beside: writer)
    _ = writer.end()
    let writing = try run("\(user) ./program data.realm 1")
    #expect(!writing.isSuccess && writing.errors.contains("No permission"), "\(writing.errors)")
    _ = try number()
  }

  /// Also the administrator may not write to these.
  @Test func anImmutableFile() throws {
    #expect(try run("$P data.realm 3").isSuccess)
    for name in ["data.realm", "data.realm.lock"] {
      // A file system without such attributes has nothing to try.
      guard try run("chattr +i \(name)").isSuccess else { return }
      defer { _ = try? run("chattr -i \(name)") }
      let writing = try run("$P data.realm 1")
      #expect(!writing.isSuccess && writing.errors.contains("No permission"), "\(writing.errors)")
      let reader = try Script("exec $P data.realm watch", folder: folder.path)
      #expect(reader.waits(lines: 3), "\(name)")
      reader.kill()
      _ = reader.end()
    }
    #expect(try run("$P data.realm 1").isSuccess)
    #expect(try number() == 4)
  }
}
