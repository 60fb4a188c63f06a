// What a query's source is to others: followed by its tracker, explained, held while its Realm
// moves. Nothing is searched here.
internal import ObjectStore
internal import Platform
internal import Storage

// MARK: - Followed by its tracker

extension QuerySource: TrackedQuery {
  var plan: (condition: QueryPlan?, orderings: [PlanOrdering], tables: [Int]) {
    let resolved = resolved
    return (resolved.plan, resolved.orderings, resolved.tables)
  }

  var identity: QueryIdentity? { makeIdentity() }

  func elementsBeforeDistinct() -> [Int64] {
    check()
    let resolved = resolved
    return PlanOrdering.apply(
      Array(resolved.orderings.prefix { !$0.isDistinct }), to: matches(resolved), of: origin)
  }

  func forget() {
    state.withLock { state in
      state.found = nil
      state.counted = nil
      state.firsts = nil
      state.head = nil
    }
  }

  func adopt(_ items: [Int64]) {
    let resolved = resolved
    let found = Found(stamp: stamp(resolved), version: version(resolved), items: items)
    state.withLock { $0.found = found }
  }
}

// MARK: - Explained

extension QuerySource {
  /// How the elements are found.
  func explain(into text: inout QueryExplanation) {
    check()
    let resolved = resolved
    if let origin = origin as? TableOrigin {
      wholePlan(resolved).explain(
        realm, realm.position(of: origin.objects.pointee.binding), into: &text)
    } else {
      text.add("the elements of a collection, one after the other")
      if let plan = resolved.plan {
        let table = origin.table.map { realm.position(of: $0.pointee.binding) } ?? -1
        plan.condition.explain(PlanNames(realm), table, 1, into: &text)
      }
    }
    for ordering in resolved.orderings {
      text.add(ordering.isDistinct ? "then: the first of equal elements" : "then: sorted")
    }
    if isKnown(resolved) { text.add("the elements are known from before") }
  }
}

// MARK: - Held while the Realm moves

extension QuerySource: HeldQuery {
  func wasAsked() -> Bool {
    state.withLock { state in
      defer { state.isAsked = false }
      return state.isAsked
    }
  }

  func findItems() -> [Int64] {
    check()
    let resolved = resolved
    return PlanOrdering.apply(resolved.orderings, to: matches(resolved), of: origin)
  }

  func knownItems(of version: Version) -> [Int64]? {
    state.withLock { $0.found?.version == version ? $0.found?.items : nil }
  }

  func keep(from old: Version, to new: Version) {
    let stamp = stamp(resolved)
    state.withLock { state in
      if state.found?.version == old {
        state.found?.version = new
        state.found?.stamp = stamp
      }
      if state.counted?.version == old {
        state.counted?.version = new
        state.counted?.stamp = stamp
      }
      if state.firsts?.version == old {
        state.firsts?.version = new
        state.firsts?.stamp = stamp
      }
    }
  }
}
