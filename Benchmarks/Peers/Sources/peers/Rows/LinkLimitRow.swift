// What following a link cannot do without, whatever stores it. Nothing but `raw` takes part.

/// An object of the size of an accessor, which keeps another one and has two fields that may own
/// something.
private class Accessor {
  final let owner: AnyObject
  final let place: Int
  final var rest: (Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0)

  init(_ owner: AnyObject, _ place: Int) {
    self.owner = owner
    self.place = place
  }
}

private final class OwnerAccessor: Accessor {
  var children: AnyObject?
  var linking: AnyObject?
}

/// Where children's links and owners' ages lie, packed as in a file.
private final class Places {
  let links: [UInt32]
  let ages: [UInt8]

  init(_ size: ModelSize) {
    links = (0..<UInt32(size.children)).map { $0 / UInt32(ModelSize.childrenOfOwner) }
    ages = (0..<size.owners).map { UInt8($0 % 100) }
  }

  /// Another object, as far as the compiler knows an unknown one.
  @inline(never)
  func target(of accessor: Accessor) -> Accessor {
    OwnerAccessor(self, Int(links[accessor.place]))
  }
}

extension LimitRows {
  /// `raw-link-hop`: references that are counted, an object that is made and goes, two reads of
  /// memory at random places, as for each hop of `link-hop`.
  static func linkHop(_ fixtures: Fixtures) -> Benchmark {
    let row = Row("raw-link-hop", .nanoseconds)
    return Benchmark([row], [Contestant(.raw, .memory)], warmUps: 1) { _, repetition in
      let size = ModelSize(children: fixtures.options.objects, elements: fixtures.options.objects)
      let places = Places(size)
      var random = SeededRandom(seed: UInt64(repetition))
      let held = (0..<100_000).map { _ -> Accessor in
        OwnerAccessor(places, random.next(below: size.children))
      }
      var checksum = 0
      let start = now()
      for accessor in held { checksum &+= Int(places.ages[places.target(of: accessor).place]) }
      let time = now() - start
      guard checksum > 0 else { throw PeerError("\(row.name): wrong ages") }
      return Measurement(values: [row.name: Double(time) / Double(held.count)], checksum: nil)
    }
  }
}
