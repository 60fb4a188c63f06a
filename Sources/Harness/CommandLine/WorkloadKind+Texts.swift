// What help and `list` say of each workload.

extension WorkloadKind {
  /// One line for `list`.
  package var summary: String {
    switch self {
    case .readersWriter: "reader threads by key and writer threads in batches, over one table"
    case .transfer: "a bank: threads move money between accounts, others add all accounts up"
    case .mixed:
      "threads read, update, insert, scan and read-modify-write single objects (YCSB A to F)"
    case .bulkLoad: "writer threads fill a new file; bytes an object, objects a second, memory"
    case .actorHops: "chains of actors hand objects on as references, frozen and as values"
    case .migration: "a table gets another form of its class while readers hold frozen versions"
    case .groupedCommit: "queues commit asynchronously in groups; time to accept and to durable"
    case .freezeCache: "a cache of frozen objects, lists and results under writers"
    case .pinnedGrowth: "what pinned versions cost in file, memory and time, and the way back"
    case .queueConfined: "serial queues with a Realm each do a mix of operations, one a job"
    case .referenceHandoff: "threads hand objects, lists and results to others by reference"
    case .notifyStorm:
      "writers insert, change and delete objects; observers keep copies by what they are told"
    }
  }

  /// What help says before the flags.
  package var help: String {
    switch self {
    case .readersWriter:
      """
      Reader threads look objects up by key and read all their properties; writer threads change
      --batch objects in each transaction. Each reader refreshes every --refresh-every reads. With
      --rate the writers follow a schedule (open loop), the readers stay closed.

        realm-bench run readers-writer --readers 2 --duration 5s --durability full
      """
    case .transfer:
      """
      Writer threads move money between random accounts: one transaction reads and changes --batch of
      them, in pairs, and each change counts. Reader threads add up all accounts (operation 'sum') of a
      refreshed Realm and of frozen copies, --refresh-every times a snapshot. The total never
      changes (I2), and each snapshot counts exactly the changes of its transactions (I7).

        realm-bench run transfer --writers 2 --duration 5s --durability memory
      """
    case .mixed:
      """
      Each thread draws an operation from --mix and an object from --read-keys: a read of all its
      properties, an update of its payload, an insertion, a scan of up to --scan-length objects, or a
      read-modify-write; a transaction each where it writes. Before every --refresh-every-th read its
      Realm is refreshed. With --rate all operations follow a schedule.

        A read:50,update:50   B read:95,update:5   C read:100   D read:95,insert:5 (reads the latest)
        E scan:95,insert:5    F read:50,read-modify-write:50

        realm-bench run mixed --mix B --threads 4 --duration 5s --rate 20000/s
      """
    case .bulkLoad:
      """
      Writer threads insert --objects objects into a new file, --batch in each transaction. The
      summary tells objects a second, bytes an object and memory; growth.csv has them over time.

        realm-bench run bulk-load --objects 1000000 --batch 10000
      """
    case .actorHops:
      """
      Each of --threads chains has --readers actors, each with a Realm of its own. A letter goes through
      the chain (operation 'chain', in hops from one actor to the next): an object as a reference, as a
      frozen object or as plain values, which each actor checks. After each --refresh-every-th letter
      the last actor commits --batch objects by asyncWrite. With --rate the letters follow a schedule.

        realm-bench run actor-hops --threads 2 --readers 4 --duration 5s --rate 2000/s
      """
    case .migration:
      """
      A table of --objects objects gets another form of its class: a property is renamed, one changes
      its type, one goes, one comes and is filled by a migration block. Meanwhile --readers threads
      read frozen versions from before by key, and --pins others are held. The rows of phase 'warmup'
      are the readers before the migration, those of 'measure' during it.

        realm-bench run migration-under-load --objects 1000000 --pins 8
      """
    case .groupedCommit:
      """
      On each of --queues queues, --group asynchronous writes are asked for together, while no more than
      --in-flight are on their way; each changes --batch objects and commits with grouping (with
      --group 1 without). Operations: 'request' is how long asking blocks, 'begin' the time from there to
      the block, 'accept' the call that commits, 'durable' from the request to the completion,
      'burst' from the first request of a group to the last completion. --readers threads look objects
      up meanwhile, --writers threads commit by blocking. With --rate bursts follow a schedule.

        realm-bench run grouped-commit --group 64 --in-flight 128 --duration 5s
      """
    case .freezeCache:
      """
      Reader threads look into a cache of --pins frozen objects, lists and results (--cached). What is
      found is read and compared with what was copied (operation 'read', I5); an empty slot, one that is
      older than --pin-age, and a share of --churn of all look-ups get a new copy ('freeze'). Writer
      threads change --batch objects and a list in each transaction. growth.csv tells pins, held bytes
      and memory.

        realm-bench run freeze-cache --pins 1000 --churn 0.01 --pin-age 10s --durability memory
      """
    case .pinnedGrowth:
      """
      A writer changes --batch objects a transaction; every --pin-every-th version is pinned, --pins at
      most, of which the oldest, newest or a random one goes (--release), and those older than
      --pin-age. Then a walk tells what the pins can see ('walked_bytes' of growth.csv), all pins go, and
      commits go on until the file is within 1.1 times its live bytes (and 128 KiB): phase 'recover',
      whose 'write' counts the commits and whose 'recover' is the time that took.

        realm-bench run pinned-growth --pins 100 --pin-every 200 --ops 20000 --durability memory
      """
    case .queueConfined:
      """
      Each of --queues serial queues has a Realm confined to it and does the operations of --mix, one a
      job; operation 'hop' is the time from handing a job to the queue to its begin. Realms follow
      new versions by themselves between jobs. At the end --attempts uses from wrong threads, queues
      and actors are tried, each in a process of its own, which has to stop (I11).

        realm-bench run queue-confined --queues 4 --mix B --duration 5s
      """
    case .referenceHandoff:
      """
      Writer threads make references to objects, lists and results ('reference'), reader threads resolve
      them ('resolve'), one in 32 inside of a transaction; no more than --in-flight wait. Before every
      --write-every-th reference a transaction changes --batch objects and puts another object in the
      place of one that was referred to lately: such a reference has to give nil (I9).

        realm-bench run reference-handoff --writers 1 --readers 2 --in-flight 64 --duration 5s
      """
    case .notifyStorm:
      """
      Writer threads delete, insert and rewrite --batch objects in each transaction. Observers, each in a
      place of its own, watch all objects, those of a condition, or all in an order, and keep a copy that
      they change by what they are told; after each call it has to be what they see (I8). Now and then
      one ends and begins again. Operation 'notify' is the time from the begin of a commit to the call.

        realm-bench run notify-storm --observers 4 --writers 2 --batch 16 --duration 5s
      """
    }
  }
}
