// See Cipher.h.
#include "Cipher.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { tag_length = 16 };

void *shim_cipher_make(const uint8_t *key, int is_sealing) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  if (context == NULL) return NULL;
  if (EVP_CipherInit_ex(context, EVP_aes_256_gcm(), NULL, key, NULL, is_sealing) == 1)
    return context;
  EVP_CIPHER_CTX_free(context);
  return NULL;
}

void shim_cipher_free(void *cipher) { EVP_CIPHER_CTX_free(cipher); }

static int run(EVP_CIPHER_CTX *context, const void *nonce, const void *associated,
               size_t associated_length, const void *bytes, size_t length, void *target) {
  int done;
  if (length > INT_MAX || associated_length > INT_MAX) return 0;
  return EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, -1) == 1 &&
         EVP_CipherUpdate(context, NULL, &done, associated, (int)associated_length) == 1 &&
         EVP_CipherUpdate(context, target, &done, bytes, (int)length) == 1;
}

static int finish(EVP_CIPHER_CTX *context, void *end) {
  int done;
  return EVP_CipherFinal_ex(context, end, &done) == 1;
}

int shim_cipher_seal(void *cipher, const void *nonce, const void *associated,
                     size_t associated_length, void *bytes, size_t length, void *tag) {
  return run(cipher, nonce, associated, associated_length, bytes, length, bytes) &&
         finish(cipher, (char *)bytes + length) &&
         EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tag_length, tag) == 1;
}

int shim_cipher_open(void *cipher, const void *nonce, const void *associated,
                     size_t associated_length, const void *bytes, size_t length, const void *tag,
                     void *target) {
  return run(cipher, nonce, associated, associated_length, bytes, length, target) &&
         EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, tag_length, (void *)tag) == 1 &&
         finish(cipher, (char *)target + length);
}

int shim_authentication_code(const uint8_t *key, size_t key_length, const uint8_t *bytes,
                             size_t length, uint8_t *code) {
  if (key_length > INT_MAX) return 0;
  return HMAC(EVP_sha256(), key, (int)key_length, bytes, length, code, NULL) != NULL;
}
