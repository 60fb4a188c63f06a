// What happens in a schedule, kept as it is and made to text only when it is asked for.

/// One thing that has happened.
package enum ScheduleEvent: Sendable, CustomStringConvertible {
  case asks(Int, ScheduleModel.Ending, isCancelled: Bool)
  case begins(Int)
  case ends(Int)
  case finishes(Int, ScheduleModel.Outcome)
  case completes(Int)
  case isDropped(Int)
  case observes(Int)
  case hears(Int)
  /// So many entries more than what it has to see.
  case sees(ScheduleModel.Place, more: Int)
  case cancels(task: Int)
  case cancelsFromOutside(task: Int)
  case violation(String)

  package var description: String {
    switch self {
    case .asks(let entry, let ending, let isCancelled):
      "\(entry) asks, \(ending)\(isCancelled ? ", cancelled" : "")"
    case .begins(let entry): "\(entry) begins"
    case .ends(let entry): "\(entry) ends"
    case .finishes(let entry, let outcome): "\(entry) \(outcome)"
    case .completes(let entry): "\(entry) completes"
    case .isDropped(let entry): "\(entry) dropped"
    case .observes(let observer): "\(observer) observes"
    case .hears(let observer): "\(observer) hears of a change"
    case .sees(let place, let more): "\(place) sees \(more)"
    case .cancels(let task): "task \(task) is cancelled"
    case .cancelsFromOutside(let task): "task \(task) is cancelled from outside"
    case .violation(let text): "VIOLATION: \(text)"
    }
  }
}
