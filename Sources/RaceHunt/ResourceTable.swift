// The resources of one run by their addresses, and how each is known in other schedules of its
// program. What a resource is lives in Resource.swift.

/// The resources that a run has used.
struct ResourceTable {
  /// In the order of their first use; each knows its place.
  private(set) var list: [Resource] = []
  private var byAddress: [UInt: Resource] = [:]
  /// How many there are of each kind.
  private var counts: [Resource.Kind: Int] = [:]
  /// By what resources are known in all schedules, by address.
  private var births: [UInt: UInt64] = [:]
  private var pointers: [UInt: Int] = [:]

  /// What is known at an address.
  subscript(address: UInt) -> Resource? { byAddress[address] }

  /// The resource at an address, made when it is used first or is of another kind now.
  mutating func resource(_ address: UInt, _ kind: Resource.Kind, name: String?) -> Resource {
    if let known = byAddress[address], known.kind == kind { return known }
    counts[kind, default: 0] += 1
    let count = counts[kind, default: 0]
    // A line of code is the same one in all runs of a process.
    let resource = Resource(
      kind: kind, name: name ?? "\(kind.rawValue) \(count)", number: list.count,
      birth: kind == .code ? UInt64(address) : births[address])
    list.append(resource)
    byAddress[address] = resource
    return resource
  }

  /// As if the last ones had never been used; where they were.
  mutating func forget(since count: Int) -> [UInt] {
    let addresses = byAddress.filter { $0.value.number >= count }.map(\.key)
    for address in addresses { byAddress[address] = nil }
    for resource in list[count...] { counts[resource.kind, default: 0] -= 1 }
    list.removeSubrange(count...)
    return addresses
  }

  /// The memory may become another resource.
  mutating func forget(_ address: UInt) {
    byAddress[address] = nil
    births[address] = nil
  }

  /// Notes what a strand has made there.
  mutating func noteBirth(_ address: UInt, by strand: Strand) {
    strand.births += 1
    // The highest bit tells it from the hashes of names more often than not.
    births[address] = 1 << 63 | UInt64(strand.number) << 32 | strand.births
  }

  /// Addresses in the order in which the program shows them.
  mutating func pointerNumber(_ address: UInt) -> Int {
    if let known = pointers[address] { return known }
    pointers[address] = pointers.count + 1
    return pointers.count
  }
}
