// The functions of CShim, for the rest of Platform: what each does stands in CShim's headers, which
// `scripts/lint` compares with this file.
//
// They are declared and not imported because a client's compiler has to find every module that a
// library of its imports: a target that uses RealmSwift without naming it in its manifest would be
// told of "missing required modules" that it has never heard of.
//
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// MARK: - Inlined into the layers above by their callers

@_extern(c) @usableFromInline
package func shim_prefetch(_ address: UnsafeRawPointer)
@_extern(c) @usableFromInline
package func shim_prefetch_lines(_ address: UnsafeRawPointer, _ count: Int64)
@_extern(c) @usableFromInline
package func shim_prefetch_both(_ address: UnsafeRawPointer, _ distance: Int64)
@_extern(c) @usableFromInline
package func shim_equal_bytes(_ bytes: UnsafeRawPointer, _ value: UInt8) -> UInt64
@_extern(c) @usableFromInline
package func shim_count_up_to(
  _ numbers: UnsafePointer<Int64>, _ count: Int64, _ value: Int64
) -> Int64
@_extern(c) @usableFromInline
package func shim_count_pairs_below(
  _ pairs: UnsafeRawPointer, _ count: Int64, _ stride: Int64, _ first: Int64, _ second: Int64
) -> Int64
@_extern(c) @usableFromInline
package func shim_count_below(
  _ numbers: UnsafeRawPointer, _ count: Int64, _ stride: Int64, _ code: Int32, _ value: UInt64
) -> Int64
@_extern(c) @usableFromInline
package func shim_pause()
@_extern(c) @usableFromInline
package func shim_thread_token() -> UInt64
@_extern(c) @usableFromInline
package func shim_thread_token_or_zero() -> UInt64
@_extern(c) @usableFromInline
package func shim_allocate_object(
  _ metadata: UnsafeRawPointer, _ size: Int, _ alignment_mask: Int
) -> UnsafeMutableRawPointer

// MARK: - CShim.h

@_extern(c) func shim_hash64(_ bytes: UnsafeRawPointer?, _ length: Int, _ seed: UInt64) -> UInt64
@_extern(c) func shim_try_retain(_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
@_extern(c) func shim_memory_file(_ name: UnsafePointer<CChar>) -> Int32
@_extern(c) func shim_rename_to_new(
  _ path: UnsafePointer<CChar>, _ new_path: UnsafePointer<CChar>
) -> Int32
@_extern(c) func shim_lock_byte(
  _ descriptor: Int32, _ byte: Int64, _ exclusive: Int32, _ wait: Int32
) -> Int32
@_extern(c) func shim_unlock_byte(_ descriptor: Int32, _ byte: Int64) -> Int32
@_extern(c) func shim_unlock_all_bytes(_ descriptor: Int32) -> Int32
@_extern(c) func shim_byte_is_locked(_ descriptor: Int32, _ byte: Int64) -> Int32
@_extern(c) func shim_first_locked(
  _ descriptor: Int32, _ byte: Int64, _ length: Int64, _ start: UnsafeMutablePointer<Int64>
) -> Int32
@_extern(c) func shim_set_thread_name(_ name: UnsafePointer<CChar>)
@_extern(c) func shim_thread_identifier() -> UInt64
@_extern(c) func shim_stack_left() -> Int
@_extern(c) func shim_enter_nesting() -> Int32
@_extern(c) func shim_leave_nesting()
@_extern(c) func shim_loose_values() -> UnsafeMutableRawPointer?
@_extern(c) func shim_set_loose_values(_ values: UnsafeMutableRawPointer?)
@_extern(c) func shim_remembered() -> UnsafeMutableRawPointer?
@_extern(c) func shim_remember(_ object: UnsafeMutableRawPointer)
@_extern(c) func shim_fork_generation() -> UInt64
@_extern(c) func shim_count_file_call()
@_extern(c) func shim_file_calls() -> UInt64
@_extern(c) func shim_leave_out_file_calls(_ is_on: Int32)
@_extern(c) func shim_overwrites_in_place(_ descriptor: Int32) -> Int32
@_extern(c) func shim_start_writing(_ descriptor: Int32, _ offset: Int64, _ length: Int64)
@_extern(c) func shim_write_durably(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer, _ length: Int, _ offset: Int64
) -> Int32
@_extern(c) func shim_read_past_cache(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ length: Int, _ offset: Int64
) -> Int64
@_extern(c) func shim_bypass_cache(_ descriptor: Int32, _ is_on: Int32) -> Int32
@_extern(c) func shim_file_system_magic(
  _ path: UnsafePointer<CChar>, _ magic: UnsafeMutablePointer<UInt32>
) -> Int32
@_extern(c) func shim_watches_open() -> Int32
@_extern(c) func shim_watches_add(_ descriptor: Int32, _ path: UnsafePointer<CChar>) -> Int32
@_extern(c) func shim_watches_remove(_ descriptor: Int32, _ watch: Int32) -> Int32
@_extern(c) func shim_watches_wait(
  _ descriptor: Int32, _ watches: UnsafeMutablePointer<Int32>, _ capacity: Int32
) -> Int32
@_extern(c) func shim_random_bytes(_ buffer: UnsafeMutableRawPointer, _ length: Int) -> Int64

// MARK: - Execution.h

@_extern(c) func shim_is_on_executor(_ identity: UInt, _ implementation: UInt) -> Int32
@_extern(c) func shim_current_executor(_ implementation: UnsafeMutablePointer<UInt>) -> UInt
@_extern(c) func shim_main_executor(_ implementation: UnsafeMutablePointer<UInt>) -> UInt
@_extern(c) func shim_is_explored() -> Int32
@_extern(c) func shim_is_in_task() -> Int32
@_extern(c) func shim_current_task() -> UnsafeMutableRawPointer?
@_extern(c) func shim_retain(_ object: UnsafeMutableRawPointer)
@_extern(c) func shim_release(_ object: UnsafeMutableRawPointer)
@_extern(c) func shim_is_held_once(_ object: UnsafeMutableRawPointer) -> Int32
@_extern(c) func shim_queue_specific(_ key: UnsafeRawPointer?) -> UnsafeRawPointer?
@_extern(c) func shim_queue_label() -> UnsafePointer<CChar>?
@_extern(c) func shim_task_pool(_ width: UnsafeMutablePointer<UInt16>) -> UInt
@_extern(c) func shim_main_queue() -> UnsafeRawPointer?
@_extern(c) func shim_queue_width(_ queue: UnsafeRawPointer) -> UInt16
@_extern(c) func shim_running_run_loop() -> UnsafeRawPointer?
@_extern(c) func shim_prepare_main_queue() -> Int32
@_extern(c) func shim_wake_run_loop(_ loop: UnsafeRawPointer?)
@_extern(c) func shim_thread_value() -> UnsafeRawPointer?
@_extern(c) func shim_set_thread_value(_ value: UnsafeRawPointer?)

// MARK: - Fork.h, Guard.h, Waiting.h

@_extern(c) func shim_keep_descriptor_from_children(_ descriptor: Int32) -> Int32
@_extern(c) func shim_keep_map_from_children(
  _ base: UnsafeMutableRawPointer, _ length: Int
) -> Int32
@_extern(c) func shim_forget_kept(_ number: Int32)
@_extern(c) func shim_forks_so_far() -> UInt64
@_extern(c) func shim_guard_map(
  _ base: UnsafeRawPointer, _ length: Int, _ path: UnsafePointer<CChar>
) -> Int32
@_extern(c) func shim_end_guard(_ number: Int32)
@_extern(c) func shim_wait_for_change(
  _ word: UnsafePointer<UInt32>, _ expected: UInt32, _ nanoseconds: UInt64, _ bits: UInt32)
@_extern(c) func shim_wake(_ word: UnsafePointer<UInt32>, _ bits: UInt32)
@_extern(c) func shim_join(_ thread: UInt, _ nanoseconds: UInt64) -> Bool

// MARK: - Cipher.h

@_extern(c) func shim_cipher_make(
  _ key: UnsafePointer<UInt8>, _ is_sealing: Int32
) -> UnsafeMutableRawPointer?
@_extern(c) func shim_cipher_free(_ cipher: UnsafeMutableRawPointer)
@_extern(c) func shim_cipher_seal(
  _ cipher: UnsafeMutableRawPointer, _ nonce: UnsafeRawPointer, _ associated: UnsafeRawPointer?,
  _ associated_length: Int, _ bytes: UnsafeMutableRawPointer, _ length: Int,
  _ tag: UnsafeMutableRawPointer
) -> Int32
@_extern(c) func shim_cipher_open(
  _ cipher: UnsafeMutableRawPointer, _ nonce: UnsafeRawPointer, _ associated: UnsafeRawPointer?,
  _ associated_length: Int, _ bytes: UnsafeRawPointer, _ length: Int, _ tag: UnsafeRawPointer,
  _ target: UnsafeMutableRawPointer
) -> Int32
@_extern(c) func shim_authentication_code(
  _ key: UnsafePointer<UInt8>, _ key_length: Int, _ bytes: UnsafePointer<UInt8>, _ length: Int,
  _ code: UnsafeMutablePointer<UInt8>
) -> Int32
