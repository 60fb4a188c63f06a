// Kinds of the blocks that trees are made of, and the two ways in which trees touch integers in a
// block. The layout of each kind stands at the head of the file that reads it. Numbers are part of
// the file format: never change or reuse one.
public import Storage

extension BlockKind {
  // MARK: - Leaves

  /// Integers of one column, packed.
  ///
  /// See PackedLeaf.
  @inlinable package static var packedLeaf: BlockKind { BlockKind(rawValue: 16) }
  /// Short strings or data of one column.
  ///
  /// See BytesLeaf.
  @inlinable package static var bytesLeaf: BlockKind { BlockKind(rawValue: 17) }
  /// A part of a long value.
  ///
  /// See LongValue.
  @inlinable package static var chunk: BlockKind { BlockKind(rawValue: 18) }
  /// Entries of a hash index.
  ///
  /// See HashBucket.
  @inlinable package static var hashBucket: BlockKind { BlockKind(rawValue: 19) }
  /// Pairs of integers.
  ///
  /// See PairLeaf.
  @inlinable package static var pairLeaf: BlockKind { BlockKind(rawValue: 20) }

  // MARK: - Nodes

  /// A bytes column in several parts.
  ///
  /// See BytesColumn.
  @inlinable package static var bytesSplit: BlockKind { BlockKind(rawValue: 0x90) }
  /// The chunks of a long value.
  ///
  /// See LongValue.
  @inlinable package static var chunkNode: BlockKind { BlockKind(rawValue: 0x91) }
  /// Columns of up to 256 objects whose slots have no gap.
  ///
  /// See Cluster.
  @inlinable package static var cluster: BlockKind { BlockKind(rawValue: 0x92) }
  /// Columns of up to 256 objects with a presence bitmap.
  ///
  /// See Cluster.
  @inlinable package static var sparseCluster: BlockKind { BlockKind(rawValue: 0x93) }
  /// A level of a table's radix tree.
  ///
  /// See ClusterTree.
  @inlinable package static var branch: BlockKind { BlockKind(rawValue: 0x94) }
  /// A level of a hash index's bucket directory.
  ///
  /// See HashIndex.
  @inlinable package static var directory: BlockKind { BlockKind(rawValue: 0x95) }
  /// Buckets that share one address because their hashes do.
  ///
  /// See HashIndex.
  @inlinable package static var bucketChain: BlockKind { BlockKind(rawValue: 0x96) }
  /// The collections of one column of a cluster.
  ///
  /// See ReferenceLeaf. (0x98 and 0x99 are the roots of ObjectStore.)
  @inlinable package static var referenceLeaf: BlockKind { BlockKind(rawValue: 0x97) }
  /// A level of a collection's tree.
  ///
  /// See ElementTree.
  @inlinable package static var elementBranch: BlockKind { BlockKind(rawValue: 0x9a) }
  /// A level of a tree of pairs.
  ///
  /// See PairTree.
  @inlinable package static var pairBranch: BlockKind { BlockKind(rawValue: 0x9b) }
  /// Keys and values of a map.
  ///
  /// See MapRoot.
  @inlinable package static var mapRoot: BlockKind { BlockKind(rawValue: 0x9c) }
}

extension UnsafeRawPointer {
  /// A little-endian integer at a byte offset, aligned or not.
  @inlinable @inline(__always)
  package func integer<Value: FixedWidthInteger>(at offset: Int, as: Value.Type) -> Value {
    Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}

extension UnsafeMutableRawPointer {
  /// A little-endian integer at a byte offset, aligned or not.
  @inlinable @inline(__always)
  package func integer<Value: FixedWidthInteger>(at offset: Int, as: Value.Type) -> Value {
    Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// Stores an integer in little-endian form at a byte offset, aligned or not.
  @inlinable @inline(__always)
  package func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}
