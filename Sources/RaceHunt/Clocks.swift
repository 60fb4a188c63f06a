// Clocks of explored programs, whose time is virtual: it passes when nobody can go on. Swift's own
// show it there (CRaceHunt's library.c).

/// Time that goes on while the machine sleeps: virtual in an explored program.
public typealias ContinuousClock = Swift.ContinuousClock

/// Time that stands still while the machine sleeps: virtual in an explored program.
public typealias SuspendingClock = Swift.SuspendingClock
