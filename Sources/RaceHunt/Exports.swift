// The modules whose names this one has: a program changes its imports of them to this one, and
// what is not replaced here is theirs.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import Synchronization
