// Of OpenSSL only libcrypto: AES-GCM and HMAC-SHA256.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
