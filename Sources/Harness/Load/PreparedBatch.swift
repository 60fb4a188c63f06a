// The content of a transaction, made before it begins: keys, amounts, and what each object gets.
// The write lock and the timed region then hold calls of the engine and additions only.
internal import Foundation

/// What one transaction writes.
package struct PreparedBatch: Sendable {
  /// 0 = nothing is prepared.
  package private(set) var transaction = 0
  package private(set) var count = 0
  package private(set) var keys: [Int] = []
  private var amounts: [Int] = []
  /// Kept from batch to batch, so that payloads keep their memory.
  private var rows: [Row] = []

  package init() {}

  /// Makes the content of a transaction, unless it is there.
  package mutating func prepare(_ transaction: Int, _ model: ContentModel) {
    if transaction == self.transaction { return }
    self.transaction = transaction
    let batch = model.batch(of: transaction)
    count = batch.count
    while rows.count < count {
      rows.append(Row())
      keys.append(0)
      amounts.append(0)
    }
    for position in 0..<count {
      keys[position] = batch.key(position)
      amounts[position] = batch.amount(position)
      rows[position].id = keys[position]
      model.fill(&rows[position], stamp: transaction)
    }
  }

  /// Gives an object the content of its position.
  @inline(__always)
  package func apply(_ position: Int, to row: inout Row) {
    row.balance += amounts[position]
    row.age = rows[position].age
    row.score = rows[position].score
    row.payload = rows[position].payload
    row.stamp = transaction
  }
}
