// Letting go of long chains. When the last reference to an object goes, Swift lets go of all that
// it holds in the same call, so that a chain of 100,000 objects takes as many nested calls and
// overflows the stack. Here what an object holds is put on a list of the thread instead, and the
// outermost release works the list off: nested calls become steps of one loop.

/// What the calling thread is about to let go of.
package enum LooseValues {
  /// Some values of one type, whose last references these may be.
  private final class Part<Value> {
    var values: [Value] = []
  }

  private final class List {
    var parts: [AnyObject] = []
  }

  /// Takes the values out of `values` and lets go of them: now, or, while the thread lets go of
  /// others, after those.
  ///
  /// For `deinit`s of what can be a link of a long chain.
  package static func release<Value>(_ values: inout [Value]) {
    if values.isEmpty { return }
    if let list = shim_loose_values() {
      return Unmanaged<List>.fromOpaque(list)._withUnsafeGuaranteedRef { put(&values, on: $0) }
    }
    let list = List()
    put(&values, on: list)
    shim_set_loose_values(Unmanaged.passUnretained(list).toOpaque())
    while dropLast(list) {}
    shim_set_loose_values(nil)
  }

  // Apart, so that nothing in the frame of the loop holds a reference to the values.
  @inline(never)
  private static func put<Value>(_ values: inout [Value], on list: List) {
    let part = Part<Value>()
    swap(&part.values, &values)
    list.parts.append(part)
  }

  /// Lets go of one part, whose values may put others on the list; false when there is none.
  @inline(never)
  private static func dropLast(_ list: List) -> Bool { list.parts.popLast() != nil }
}
