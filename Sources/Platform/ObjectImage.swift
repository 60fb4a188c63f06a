// Objects made by copying bytes: accessors are made by the million, and the chain of initializers
// of a class takes several times as long as the copy.

/// The bytes of an object of a native Swift class, of which more can be made.
@frozen @usableFromInline
package struct ObjectImage {
  @usableFromInline let type: UnsafeRawPointer
  @usableFromInline let bytes: UnsafeMutableRawBufferPointer

  /// Bytes of an object before its first field: type and reference counts.
  @inlinable static var headerLength: Int { 16 }

  /// Copies an object.
  ///
  /// - Parameter byteCount: where its last field ends.
  /// - Precondition: no field owns anything, so that a copy of its bytes is a copy of its value,
  ///   and none needs more than 16 bytes of alignment.
  package init(of object: AnyObject, byteCount: Int) {
    let address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    type = address.load(as: UnsafeRawPointer.self)
    bytes = .allocate(byteCount: byteCount, alignment: 16)
    bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: byteCount))
  }

  /// Another image, to be changed and deallocated on its own.
  package func copy() -> ObjectImage {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    copy.copyMemory(from: UnsafeRawBufferPointer(bytes))
    return ObjectImage(type: type, bytes: copy)
  }

  private init(type: UnsafeRawPointer, bytes: UnsafeMutableRawBufferPointer) {
    self.type = type
    self.bytes = bytes
  }

  /// Where the image's object lies, as far as its fields are concerned.
  package var address: UnsafeMutableRawPointer { bytes.baseAddress.unsafelyUnwrapped }

  package func deallocate() { bytes.deallocate() }

  /// Another object with the same fields, which the caller has to release.
  @inlinable @inline(__always)
  package func make() -> UnsafeMutableRawPointer {
    // Memory of malloc is aligned to 16 bytes anyway; asked for that, the runtime takes the longer
    // way through posix_memalign.
    let object = shim_allocate_object(type, bytes.count, 7)
    (object + Self.headerLength).copyMemory(
      from: bytes.baseAddress.unsafelyUnwrapped + Self.headerLength,
      byteCount: bytes.count &- Self.headerLength)
    return object
  }
}
