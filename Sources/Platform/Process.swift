// What the engine asks about the process and the machine it runs on.
internal import Glibc

/// The process's number.
///
/// A system call: not for hot paths.
package var processIdentifier: Int32 { getpid() }

/// 0 in the process that was started, larger in its forked children.
///
/// Whoever remembers the value sees by one load that a fork has happened since.
package var forkGeneration: UInt64 { shim_fork_generation() }

/// Names this start of the machine: the same in all its processes, another one after a restart.
///
/// 0 when the kernel does not tell; two zeros must not be taken for the same boot.
package let systemBootIdentifier: UInt64 = {
  let text = contents(ofKernelFile: "/proc/sys/kernel/random/boot_id")
  guard !text.isEmpty else { return 0 }
  return text.withUnsafeBytes { max(1, hash64($0.baseAddress!, count: $0.count, seed: 0)) }
}()

/// Bytes of this process that are in memory now; 0 when the kernel does not tell.
package func residentBytes() -> UInt64 {
  // Fields of statm are counted in pages; the second one is what is resident.
  let fields = contents(ofKernelFile: "/proc/self/statm").split(separator: UInt8(ascii: " "))
  guard fields.count > 1, let pages = UInt64(String(decoding: fields[1], as: UTF8.self)) else {
    return 0
  }
  return pages * UInt64(pageLength)
}

/// How many threads of the machine can run at the same time.
package let processorCount = sysconf(Int32(_SC_NPROCESSORS_ONLN))

/// Length of a page of memory.
package let pageLength = Int(sysconf(Int32(_SC_PAGESIZE)))

/// The first 4 KB of a file under /proc; empty when it cannot be read.
private func contents(ofKernelFile path: String) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return [] }
  defer { close(descriptor) }
  return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
    count = 0
    while count < buffer.count {
      let received = Glibc.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
      if received < 0 && errno == EINTR { continue }
      if received <= 0 { break }
      count += received
    }
  }
}
