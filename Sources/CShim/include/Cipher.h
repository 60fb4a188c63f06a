// Encryption by OpenSSL's libcrypto: AES-256 in GCM, and HMAC with SHA-256. Functions that can fail
// return 1 when all went well, else 0.
#ifndef REALM_CIPHER_H
#define REALM_CIPHER_H

#include <stddef.h>
#include <stdint.h>

/// A context with a key of 32 bytes, for one thread at a time; NULL without memory.
void *shim_cipher_make(const uint8_t *key, int is_sealing);
void shim_cipher_free(void *cipher);

/// Encrypts bytes in place and writes their tag of 16 bytes. The nonce has 12 bytes.
int shim_cipher_seal(void *cipher, const void *nonce, const void *associated,
                     size_t associated_length, void *bytes, size_t length, void *tag);

/// Decrypts bytes to another place of the same length, or to the same. 0 when they are not what was
/// sealed; then what `target` holds means nothing.
int shim_cipher_open(void *cipher, const void *nonce, const void *associated,
                     size_t associated_length, const void *bytes, size_t length, const void *tag,
                     void *target);

/// Writes HMAC with SHA-256: 32 bytes.
int shim_authentication_code(const uint8_t *key, size_t key_length, const uint8_t *bytes,
                             size_t length, uint8_t *code);

#endif
