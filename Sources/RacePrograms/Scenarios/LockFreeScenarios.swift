// Programs without locks that are wrong.
internal import RaceHunt

extension HuntScenario {
  static let lockFreeScenarios = [
    HuntScenario("aba-stack", "takes a node for the one that it has seen before") { hasBug in
      {
        let stack = NodeStack(hasTags: !hasBug)
        for node in [3, 2, 1] { stack.push(node) }
        let taken = Mutex<[Int]>([], name: "taken")
        let first = Thread.start(name: "first") {
          if let node = stack.pop() { taken.withLock { $0.append(node) } }
        }
        let second = Thread.start(name: "second") {
          guard let one = stack.pop() else { return }
          if let two = stack.pop() { taken.withLock { $0.append(two) } }
          stack.push(one)
        }
        first.join()
        second.join()
        var all = taken.value
        while let node = stack.pop(), all.count < 10 { all.append(node) }
        check(all.sorted() == [1, 2, 3], "the nodes are \(all.sorted()), not [1, 2, 3]")
      }
    },
    HuntScenario("work-stealing", "owner and thief take the last item both") { hasBug in
      {
        let queue = StealingQueue(checksLast: !hasBug)
        for item in 1...2 { queue.push(item) }
        let taken = Mutex<[Int]>([], name: "taken")
        let thief = Thread.start(name: "thief") {
          if let item = queue.steal() { taken.withLock { $0.append(item) } }
        }
        for _ in 1...2 { if let item = queue.pop() { taken.withLock { $0.append(item) } } }
        thief.join()
        let items = taken.value.sorted()
        check(items == [1, 2], "the items taken are \(items), not [1, 2]")
      }
    },
    HuntScenario("sequence-lock", "does not look whether a writer came meanwhile") { hasBug in
      {
        let sequence = Atomic(0, name: "sequence")
        let (x, y) = (Atomic(0, name: "x"), Atomic(0, name: "y"))
        let writer = Thread.start(name: "writer") {
          sequence.add(1)
          x.store(1)
          y.store(1)
          sequence.add(1)
        }
        var (seenX, seenY) = (0, 0)
        while true {
          let before = sequence.load()
          if before % 2 == 1 {
            Thread.yield()
            continue
          }
          (seenX, seenY) = (x.load(), y.load())
          if hasBug || sequence.load() == before { break }
        }
        writer.join()
        check(seenX == seenY, "the pair is torn: \(seenX), \(seenY)")
      }
    },
    HuntScenario("ring-index", "publishes the tail before the item is in the ring") { hasBug in
      {
        let slots = (0..<2).map { Atomic(0, name: "slot \($0)") }
        let (head, tail) = (Atomic(0, name: "head"), Atomic(0, name: "tail"))
        let producer = Thread.start(name: "producer") {
          for item in 1...2 {
            let position = tail.load()
            if hasBug { tail.store(position + 1) }
            slots[position % 2].store(item)
            if !hasBug { tail.store(position + 1) }
          }
        }
        for item in 1...2 {
          while tail.load() == head.load() { Thread.yield() }
          let found = slots[head.load() % 2].load()
          check(found == item, "the item is \(found), not \(item)")
          head.add(1)
        }
        producer.join()
      }
    },
    HuntScenario("claimed-twice", "two threads take a job by a look and a store") { hasBug in
      {
        let isClaimed = Atomic(false, name: "is claimed")
        let runs = Atomic(0, name: "runs")
        let threads = (1...2).map { number in
          Thread.start(name: "worker \(number)") {
            if hasBug {
              if isClaimed.load() { return }
              isClaimed.store(true)
            } else if isClaimed.exchange(true) {
              return
            }
            runs.add(1)
          }
        }
        for thread in threads { thread.join() }
        let count = runs.load()
        check(count == 1, "the job runs \(count) times")
      }
    },
  ]
}

/// A stack of numbered nodes whose top is exchanged; a tag in the upper bits counts exchanges.
private final class NodeStack: Sendable {
  private let top = Atomic(0, name: "top")
  private let next = (0...3).map { Atomic(0, name: "next of \($0)") }
  private let hasTags: Bool

  init(hasTags: Bool) { self.hasTags = hasTags }

  private func node(_ word: Int) -> Int { word & 0xFF }

  private func word(_ node: Int, after word: Int) -> Int {
    hasTags ? (word | 0xFF) + 1 | node : node
  }

  func push(_ node: Int) {
    while true {
      let seen = top.load()
      next[node].store(self.node(seen))
      if top.compareExchange(expected: seen, desired: word(node, after: seen)).exchanged { return }
    }
  }

  func pop() -> Int? {
    while true {
      let seen = top.load()
      if node(seen) == 0 { return nil }
      let following = next[node(seen)].load()
      if top.compareExchange(expected: seen, desired: word(following, after: seen)).exchanged {
        return node(seen)
      }
    }
  }
}

/// Items that the owner takes from the bottom and others from the top.
private final class StealingQueue: Sendable {
  private let (top, bottom) = (Atomic(0, name: "top"), Atomic(0, name: "bottom"))
  private let items = (0..<4).map { Atomic(0, name: "item \($0)") }
  private let checksLast: Bool

  init(checksLast: Bool) { self.checksLast = checksLast }

  func push(_ item: Int) {
    let position = bottom.load()
    items[position].store(item)
    bottom.store(position + 1)
  }

  func pop() -> Int? {
    let position = bottom.load() - 1
    bottom.store(position)
    let first = top.load()
    if first > position {
      bottom.store(first)
      return nil
    }
    let item = items[position].load()
    if first < position || !checksLast { return item }
    // The last one: a thief may be about to take it.
    let isOurs = top.compareExchange(expected: first, desired: first + 1).exchanged
    bottom.store(first + 1)
    return isOurs ? item : nil
  }

  func steal() -> Int? {
    let first = top.load()
    guard first < bottom.load() else { return nil }
    let item = items[first].load()
    return top.compareExchange(expected: first, desired: first + 1).exchanged ? item : nil
  }
}
