// Processes that the tool starts: their end is known without a thread or a run loop, nobody waits
// for one without end, and what they print is whole.
internal import Foundation
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Harness

@Suite(.ownThreads) struct StartedProcessTests {
  private let folder = TemporaryFolder()

  private func shell(_ script: String) throws -> StartedProcess {
    try StartedProcess(
      "/bin/sh", ["-c", script], hasInput: false, output: .gathered, errors: .gathered)
  }

  private static let minute: UInt64 = 60_000_000_000

  /// More than a pipe holds.
  @Test func whatItPrintsIsWhole() throws {
    let process = try shell("yes line | head -n 100000; echo bad >&2; exit 3")
    #expect(process.wait(nanoseconds: Self.minute) == .code(3))
    #expect(process.output.utf8.count == 500_000 && process.errors == "bad\n")
  }

  @Test func aSignalIsAnEndOfItsOwn() throws {
    let process = try shell("kill -9 $$")
    #expect(process.wait(nanoseconds: Self.minute) == .signal(SIGKILL))
  }

  /// The tool blocks the signals that it waits for; a child that inherited that could not be told.
  @Test func itHearsSignalsThatThisThreadBlocks() throws {
    var (blocked, before) = (sigset_t(), sigset_t())
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let process = try StartedProcess("/bin/sh", ["-c", "exec sleep 600"], hasInput: false)
    process.send(SIGTERM)
    #expect(process.wait(nanoseconds: Self.minute) == .signal(SIGTERM))
    process.stop()
  }

  /// Its own child holds its streams for longer than it lives.
  @Test func whatItHasStartedIsNotWaitedFor() throws {
    let process = try shell("echo whole; sleep 600 & echo $! >&2")
    #expect(process.wait(nanoseconds: Self.minute) == .code(0))
    #expect(process.output == "whole\n")
    kill(try #require(pid_t(process.errors.trimmingCharacters(in: .newlines))), SIGKILL)
  }

  @Test func theWaitForOneThatGoesOnEnds() throws {
    let process = try shell("exec sleep 600")
    #expect(process.wait(nanoseconds: 1_000_000) == nil && process.isRunning)
    process.stop()
    #expect(process.end == .signal(SIGKILL))
  }

  /// Git hangs, such as on a network disk: a run does without what it would say.
  @Test func aCommandThatDoesNotEndIsGivenUp() throws {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    let output = outputOfCommand("/bin/sh", ["-c", "sleep 600"], within: 10_000_000)
    #expect(output == nil && clock.nanoseconds() - start < Self.minute)
    #expect(outputOfCommand("/bin/sh", ["-c", "echo here"]) == "here\n")
    #expect(outputOfCommand("/bin/sh", ["-c", "echo here; exit 1"]) == nil)
    #expect(outputOfCommand(folder.file("nothing"), []) == nil)
  }

  @Test func whatCannotBeStartedIsToldInWords() {
    #expect {
      try StartedProcess(folder.file("nothing"), [])
    } throws: { error in
      error.explanation == "No such file or directory"
    }
  }

  /// An executable that somebody writes to is waited for, but not without end.
  @Test func anExecutableThatIsBeingWrittenIsWaitedFor() throws {
    let path = folder.file("script")
    try "#!/bin/sh\nexit 7\n".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(chmod(path, 0o755) == 0)
    let writing = open(path, O_WRONLY | O_CLOEXEC)
    #expect(throws: SystemError(call: "start", path: path, code: ETXTBSY)) {
      try StartedProcess(path, [], hasInput: false)
    }
    let closer = Thread.start(name: "closer") {
      sleep(nanoseconds: 50_000_000)
      close(writing)
    }
    let process = try StartedProcess(path, [], hasInput: false)
    #expect(process.wait(nanoseconds: Self.minute) == .code(7))
    closer.joinInTime()
  }

  /// Files of this process that a child keeps open would be kept from others.
  @Test func itHasOnlyItsOwnFiles() throws {
    let file = open(folder.file("open"), O_RDWR | O_CREAT, 0o666)
    defer { close(file) }
    let process = try shell("[ -e /proc/self/fd/\(file) ] && echo open || echo closed")
    #expect(process.wait(nanoseconds: Self.minute) == .code(0))
    #expect(file >= 0 && process.output == "closed\n")
  }

  /// Libraries have threads of their own for a child, for which there is no memory here: it waited
  /// for one of them before the run had begun.
  @Test func aRunWithLittleMemoryComesToAnEnd() throws {
    for kilobytes in [150_000, 200_000] {
      let result = try ToolInShell(folder).run(
        "ulimit -v \(kilobytes); exec $tool run readers-writer --readers 1 --objects 50 "
          + "--value-size 16B --warmup 0s --ops 200 --output out-\(kilobytes)")
      #expect(ExitCode(rawValue: result.code) != nil, "\(kilobytes): \(result)")
    }
  }
}
