// Finds a race in a program of an actor, repeats it, and finds none when it is mended. The program
// asks an actor, and acts on the answer with a second `await`: another task can come between.
import RaceHunt

/// Seats of a hall.
actor Hall {
  private(set) var free = 1
  private(set) var sold: [String] = []

  func sell(to name: String) {
    free -= 1
    sold.append(name)
  }

  /// Asks and sells in one step.
  func sellIfFree(to name: String) {
    if free > 0 { sell(to: name) }
  }
}

/// Waits for somebody's consent.
actor Cashier {
  func agrees(_ free: Int) -> Bool { free > 0 }
}

@main struct Program {
  /// Two people want the last seat.
  @Sendable static func sellLastSeat(isMended: Bool) async {
    let (hall, cashier) = (Hall(), Cashier())
    await withTaskGroup(of: Void.self) { group in
      for name in ["Ann", "Bob"] {
        group.addTask {
          if isMended {
            await hall.sellIfFree(to: name)
          } else if await cashier.agrees(await hall.free) {
            await hall.sell(to: name)
          }
        }
      }
    }
    let sold = await hall.sold
    check(sold.count == 1, "the last seat is sold to \(sold.count) people")
  }

  static func main() async throws {
    do {
      try await explore { await sellLastSeat(isMended: false) }
      preconditionFailure("the race was not found")
    } catch {
      print(error)
      precondition(error.seconds! < 1, "it took \(error.seconds!) s")
      do {
        try await replay(error.schedule) { await sellLastSeat(isMended: false) }
        preconditionFailure("the schedule does not fail again")
      } catch let again {
        precondition(again.reason == error.reason && again.table == error.table)
        print("repeated: \(again.reason)")
      }
    }
    let exploration = try await explore { await sellLastSeat(isMended: true) }
    print("mended: no failure in \(exploration.schedules) schedules")
  }
}
