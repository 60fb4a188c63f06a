// Address space of the process itself, for tables that are large when full and mostly empty.
internal import Glibc

/// A reservation of zeroed memory whose pages come at first touch.
///
/// Given back at deinit.
///
/// What readers and writers of the memory agree on is theirs to state; this class only keeps it.
package final class AnonymousMemory: @unchecked Sendable {
  // @unchecked: `base` never changes; what lies behind it is guarded by whoever made the object.
  package let base: UnsafeMutableRawPointer
  /// The length asked for, rounded up to whole pages.
  package let length: Int

  /// Reserves `length` bytes, at least one page.
  /// - Throws: the kernel's refusal, ENOMEM when there is no address space left.
  package init(length: Int) throws(SystemError) {
    precondition(length >= 0, "negative length")
    let rounded = max(pageLength, (length + pageLength - 1) / pageLength * pageLength)
    let memory = mmap(
      nil, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let memory, memory != MAP_FAILED else {
      throw SystemError(call: "mmap", path: "(memory)", code: errno)
    }
    base = memory
    self.length = rounded
  }

  deinit { munmap(base, length) }

  /// Makes all of it zero again and gives its pages back.
  ///
  /// - Precondition: nobody else uses the memory meanwhile.
  package func clear() {
    let failure = madvise(base, length, MADV_DONTNEED)
    precondition(failure == 0, "cannot clear memory: errno \(errno)")
  }
}
