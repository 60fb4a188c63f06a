// Finds every subclass of Object and EmbeddedObject that is linked into the process, for the
// default schema: walks the type records of all loaded images. Only descriptors of classes are
// read; a class's metadata is made only when its chain of superclasses ends in ObjectBase. Generic
// classes and classes local to a function are left out: they can be listed in `objectTypes`.
//
// Layout read here (Swift's stable metadata; offsets in bytes, relative pointers are Int32):
//   sections:    four words, then (start, length) of protocols, of conformances, of type records
//   type record: relative pointer to a descriptor; low bits: 0 direct, 1 indirect
//   descriptor:  0 flags (low 5 bits: kind, 0x80 generic)  4 parent  8 name  20 superclass's mangled name
internal import Glibc

/// What the class walk found.
enum ClassDiscovery {
  /// All non-generic, non-local subclasses of `Object` and `EmbeddedObject` in the process, by
  /// qualified name; nil when the program's Swift runtime does not list its classes.
  ///
  /// - Complexity: O(classes in the process), some 100 us with Foundation.
  static func allObjectClasses() -> [ObjectBase.Type]? {
    guard let runtime = Runtime() else { return nil }
    // A class object is its metadata: the cast is how the runtime itself reads the descriptor.
    let root = UnsafeRawPointer(
      unsafeBitCast(ObjectBase.self as AnyClass, to: UnsafeRawPointer.self)
    )
    .load(fromByteOffset: classDescriptorOffset, as: UnsafeRawPointer.self)
    var walk = Walk(root: root, runtime: runtime)
    return runtime.classDescriptors().compactMap { walk.objectClass($0) }
      .filter { $0 != Object.self && $0 != EmbeddedObject.self }
      .sorted { String(reflecting: $0) < String(reflecting: $1) }
  }

  /// Where class metadata on 64-bit Linux points to its descriptor: behind kind, superclass, flags,
  /// instance and class sizes.
  private static let classDescriptorOffset = 40

  fileprivate static let kindMask: UInt32 = 0x1f
  fileprivate static let classKind: UInt32 = 16
  fileprivate static let anonymousKind: UInt32 = 2
  fileprivate static let genericFlag: UInt32 = 0x80
}

/// Follows chains of superclasses, remembering what it has learned.
private struct Walk {
  let root: UnsafeRawPointer
  let runtime: Runtime
  private var known: [UnsafeRawPointer: Bool] = [:]

  init(root: UnsafeRawPointer, runtime: Runtime) {
    self.root = root
    self.runtime = runtime
  }

  mutating func objectClass(_ descriptor: UnsafeRawPointer) -> ObjectBase.Type? {
    let flags = descriptor.load(as: UInt32.self)
    guard flags & ClassDiscovery.genericFlag == 0, !isLocal(descriptor),
      descendsFromObject(descriptor)
    else { return nil }
    return runtime.type(of: descriptor) as? ObjectBase.Type
  }

  private mutating func descendsFromObject(_ descriptor: UnsafeRawPointer) -> Bool {
    if let answer = known[descriptor] { return answer }
    let answer: Bool
    switch superclass(descriptor) {
    case .none: answer = false
    case .descriptor(let parent): answer = parent == root || descendsFromObject(parent)
    case .other: answer = runtime.type(of: descriptor) is ObjectBase.Type
    }
    known[descriptor] = answer
    return answer
  }

  private enum Superclass {
    case none
    case descriptor(UnsafeRawPointer)
    /// A generic class with arguments: only the runtime can tell.
    case other
  }

  private func superclass(_ descriptor: UnsafeRawPointer) -> Superclass {
    guard let name = relativePointer(descriptor + 20) else { return .none }
    // A lone symbolic reference: 1 direct or 2 indirect, four bytes of distance, end of text.
    let symbol = name.load(as: UInt8.self)
    guard symbol == 1 || symbol == 2, name.load(fromByteOffset: 5, as: UInt8.self) == 0 else {
      return symbol == 1 || symbol == 2 ? .other : .none
    }
    let distance = (name + 1).loadUnaligned(as: Int32.self)
    let target = name + 1 + Int(distance)
    return .descriptor(symbol == 1 ? target : target.load(as: UnsafeRawPointer.self))
  }

  /// Whether the class is declared inside a function: such a class has an anonymous context (its
  /// own private name) inside another one (the function).
  ///
  /// A private class of a file has only the first.
  private func isLocal(_ descriptor: UnsafeRawPointer) -> Bool {
    var wasAnonymous = false
    var context = parent(descriptor)
    while let current = context {
      let isAnonymous =
        current.load(as: UInt32.self) & ClassDiscovery.kindMask == ClassDiscovery.anonymousKind
      if isAnonymous && wasAnonymous { return true }
      wasAnonymous = isAnonymous
      context = parent(current)
    }
    return false
  }

  private func parent(_ context: UnsafeRawPointer) -> UnsafeRawPointer? {
    let distance = (context + 4).load(as: Int32.self)
    if distance == 0 { return nil }
    let target = context + 4 + Int(distance & ~1)
    return distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer.self)
  }
}

private func relativePointer(_ field: UnsafeRawPointer) -> UnsafeRawPointer? {
  let distance = field.load(as: Int32.self)
  return distance == 0 ? nil : field + Int(distance)
}

/// The two functions of the Swift runtime that are needed.
///
/// Looked up by name: the compiler refuses to declare them.
private struct Runtime {
  private typealias Visitor =
    @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool
  private typealias EnumerateSections =
    @convention(c) (Visitor, UnsafeMutableRawPointer?) -> Void
  private typealias TypeByMangledName =
    @convention(c) (
      UnsafeRawPointer, Int, UnsafeRawPointer?, UnsafeRawPointer?
    ) -> UnsafeRawPointer?

  private let enumerateSections: EnumerateSections
  private let typeByMangledName: TypeByMangledName

  init?() {
    guard let program = dlopen(nil, RTLD_NOW),
      let enumerate = dlsym(program, "swift_enumerateAllMetadataSections"),
      let type = dlsym(program, "swift_getTypeByMangledNameInContext")
    else { return nil }
    // The runtime exports both with these types. Linux promises no stable interface: every test
    // that finds classes checks them with the compiler that builds it.
    enumerateSections = unsafeBitCast(enumerate, to: EnumerateSections.self)
    typeByMangledName = unsafeBitCast(type, to: TypeByMangledName.self)
  }

  /// Descriptors of all classes in all loaded images.
  func classDescriptors() -> [UnsafeRawPointer] {
    var found: [UnsafeRawPointer] = []
    withUnsafeMutablePointer(to: &found) { list in
      enumerateSections(
        { sections, context in
          let list = context!.assumingMemoryBound(to: [UnsafeRawPointer].self)
          // Behind four words and two ranges.
          guard let start = sections.load(fromByteOffset: 64, as: UnsafeRawPointer?.self) else {
            return true
          }
          let length = sections.load(fromByteOffset: 72, as: Int.self)
          for offset in stride(from: 0, to: length, by: 4) {
            let record = start + offset
            let distance = record.load(as: Int32.self)
            if distance == 0 { continue }
            var descriptor = record + Int(distance & ~3)
            switch distance & 3 {
            case 0: break
            case 1: descriptor = descriptor.load(as: UnsafeRawPointer.self)
            default: continue
            }
            let kind = descriptor.load(as: UInt32.self) & ClassDiscovery.kindMask
            if kind == ClassDiscovery.classKind { list.pointee.append(descriptor) }
          }
          return true
        }, UnsafeMutableRawPointer(list))
    }
    return found
  }

  /// The type that a descriptor describes: asks for a mangled name that is one indirect reference.
  func type(of descriptor: UnsafeRawPointer) -> Any.Type? {
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { memory in
      let base = memory.baseAddress!
      base.storeBytes(of: 0, as: UInt64.self)
      base.storeBytes(of: 2, toByteOffset: 2, as: UInt8.self)
      // From byte 3 to the pointer at byte 8.
      base.storeBytes(of: 5, toByteOffset: 3, as: Int32.self)
      base.storeBytes(of: descriptor, toByteOffset: 8, as: UnsafeRawPointer.self)
      guard let metadata = typeByMangledName(base + 2, 5, nil, nil) else { return nil }
      // What the runtime returns is a pointer to type metadata, which is what `Any.Type` holds.
      return unsafeBitCast(metadata, to: Any.Type.self)
    }
  }
}
