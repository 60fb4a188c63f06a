// The simulated disk and injected faults, which tests have with everything else of this module.
@_exported public import Simulation
