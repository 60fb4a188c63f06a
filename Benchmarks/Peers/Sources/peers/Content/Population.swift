// The objects of all rows: what object number n holds, laid out in memory before any clock runs, so
// that no engine is charged for making it up.
import Foundation

/// All values of one object, for checks.
struct PersonValues: Equatable {
  var id: Int
  var name: String
  var age: Int
  var score: Double
  var payload: [UInt8]
}

/// The values of objects 0 ..< count.
///
/// `id`, a name of 12 characters, `age` 0 ..< 100, `score`, and a payload of 100 bytes that differ.
final class Population: @unchecked Sendable {
  // @unchecked: the memory is written in init and only read afterwards.
  static let nameBytes = 12
  static let payloadBytes = 100
  private static let stride = nameBytes + payloadBytes

  let count: Int
  private let memory: UnsafeMutableRawPointer

  init(count: Int) {
    // Names of more objects would not have 12 characters.
    precondition(count <= 90_000_000)
    self.count = count
    memory = .allocate(byteCount: max(1, count) * Self.stride, alignment: 16)
    for id in 0..<count {
      let place = memory + id * Self.stride
      var digits = 10_000_000 + id
      for position in (4..<Self.nameBytes).reversed() {
        place.storeBytes(of: UInt8(48 + digits % 10), toByteOffset: position, as: UInt8.self)
        digits /= 10
      }
      "name".utf8.withContiguousStorageIfAvailable {
        place.copyMemory(from: $0.baseAddress!, byteCount: 4)
      }
      for word in 0..<(Self.payloadBytes + 7) / 8 {
        var value = mixed(UInt64(id &* 16 &+ word))
        let offset = Self.nameBytes + word * 8
        (place + offset).copyMemory(from: &value, byteCount: min(8, Self.stride - offset))
      }
    }
  }

  deinit { memory.deallocate() }

  static func age(_ id: Int) -> Int { Int(mixed(UInt64(id) ^ 0xa9e) % 100) }
  static func score(_ id: Int) -> Double { Double(id) * 1.5 }

  func name(_ id: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: memory + id * Self.stride, count: Self.nameBytes)
  }

  func payload(_ id: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: memory + id * Self.stride + Self.nameBytes, count: Self.payloadBytes)
  }

  /// What an engine has to give back for an object whose age was set.
  func values(_ id: Int, age: Int) -> PersonValues {
    PersonValues(
      id: id, name: String(decoding: name(id), as: UTF8.self), age: age, score: Self.score(id),
      payload: Array(payload(id)))
  }
}
