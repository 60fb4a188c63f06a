// What client code calls around work on a background thread where there are autorelease pools.

/// Runs `body`, as on systems with autorelease pools.
///
/// Here objects go when their last reference does, so nothing is left for a pool to release; the
/// function is there so that the same code compiles.
@inlinable
public func autoreleasepool<Failure: Error, Result: ~Copyable>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try body()
}
