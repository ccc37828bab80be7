// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_tls.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

namespace {

constexpr char psk_identity[] = "opendoca-card-link";

/// Returns the SHA-256 of a purpose and the key file's content.
std::array<std::uint8_t, 32> derive(std::string_view purpose, std::span<const std::uint8_t> content)
{
    std::vector<std::uint8_t> input(purpose.begin(), purpose.end());
    input.push_back(0);
    input.insert(input.end(), content.begin(), content.end());
    std::array<std::uint8_t, 32> digest{};
    unsigned length = 0;
    if (EVP_Digest(input.data(), input.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1 ||
        length != digest.size())
        throw std::system_error(EPROTO, std::generic_category(), "SHA-256");
    return digest;
}

/// Copies the secret of the session; the other side's identity must be that of all links.
unsigned give_secret(const SSL *ssl, const char *identity, unsigned char *to, unsigned room)
{
    const auto *secret = static_cast<const std::array<std::uint8_t, 32> *>(SSL_get_app_data(ssl));
    if (secret == nullptr || std::strcmp(identity, psk_identity) != 0 || room < secret->size())
        return 0;
    std::ranges::copy(*secret, to);
    return static_cast<unsigned>(secret->size());
}

unsigned answer_server(SSL *ssl, const char *, char *identity, unsigned identity_room, unsigned char *secret,
                       unsigned room)
{
    if (identity_room < sizeof(psk_identity))
        return 0;
    std::memcpy(identity, psk_identity, sizeof(psk_identity));
    return give_secret(ssl, psk_identity, secret, room);
}

unsigned answer_client(SSL *ssl, const char *identity, unsigned char *secret, unsigned room)
{
    return give_secret(ssl, identity, secret, room);
}

} // namespace

std::optional<LinkKey> LinkKey::read(const std::string &path, std::string &message)
{
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat state {};
    if (!file.is_open() || fstat(file.get(), &state) != 0) {
        message = "cannot read the key file " + path + ": " + std::strerror(errno);
        return std::nullopt;
    }
    if (!S_ISREG(state.st_mode) || state.st_uid != geteuid() || (state.st_mode & 077) != 0) {
        message = "the key file " + path + " must be a file of user " + std::to_string(geteuid()) +
                  " that no other user can access (chmod 600)";
        return std::nullopt;
    }
    std::vector<std::uint8_t> content(max_file_bytes + 1);
    const ssize_t got = ::read(file.get(), content.data(), content.size());
    if (got < static_cast<ssize_t>(min_file_bytes) || got > static_cast<ssize_t>(max_file_bytes)) {
        message = "the key file " + path + " must have " + std::to_string(min_file_bytes) + " to " +
                  std::to_string(max_file_bytes) + " bytes";
        return std::nullopt;
    }
    content.resize(static_cast<std::size_t>(got));
    LinkKey key;
    key.secret = derive("opendoca card link, secret", content);
    std::copy_n(derive("opendoca card link, name", content).begin(), key.name.size(), key.name.begin());
    return key;
}

LinkTls::LinkTls(int socket, bool is_server, const LinkKey &key)
    : secret_(key.secret),
      context_(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()), &SSL_CTX_free),
      ssl_(context_ == nullptr ? nullptr : SSL_new(context_.get()), &SSL_free)
{
    // With SHA-256, the digest of the secret; without tickets, since each session proves the key again.
    if (ssl_ == nullptr || SSL_set_min_proto_version(ssl_.get(), TLS1_3_VERSION) != 1 ||
        SSL_set_ciphersuites(ssl_.get(), "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") != 1 ||
        SSL_set_num_tickets(ssl_.get(), 0) != 1 || SSL_set_fd(ssl_.get(), socket) != 1)
        throw std::system_error(EPROTONOSUPPORT, std::generic_category(), "TLS 1.3");
    SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_app_data(ssl_.get(), &secret_);
    if (is_server) {
        SSL_set_psk_server_callback(ssl_.get(), answer_client);
        SSL_set_accept_state(ssl_.get());
    } else {
        SSL_set_psk_client_callback(ssl_.get(), answer_server);
        // A certificate in place of the key is never accepted, as there is no authority to verify it. A server without
        // a certificate needs no such rule: without the key there is no handshake.
        SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
        SSL_set_connect_state(ssl_.get());
    }
}

LinkTls::~LinkTls() = default;

ssize_t LinkTls::fail(int result)
{
    const int kind = SSL_get_error(ssl_.get(), result);
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    const int of_system = errno;
    const unsigned long code = ERR_peek_last_error();
    // A card that was killed has not closed its session.
    if (kind == SSL_ERROR_ZERO_RETURN ||
        (is_established_ && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)) {
        ERR_clear_error();
        return 0;
    }
    const char *const reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
    error_ = "TLS: ";
    if (reason != nullptr)
        error_ += std::string(reason) + (is_established_ ? "" : " (do both sides have the same key?)");
    else
        error_ += of_system != 0 ? std::strerror(of_system) : "the other side has closed it";
    ERR_clear_error();
    errno = EPROTO;
    return -1;
}

ssize_t LinkTls::receive(std::span<std::uint8_t> to)
{
    ERR_clear_error();
    errno = 0;
    const int done = SSL_read(ssl_.get(), to.data(), static_cast<int>(std::min<std::size_t>(to.size(), INT_MAX)));
    is_established_ = is_established_ || done > 0;
    is_send_waiting_for_input_ = false; // a handshake may have gone on, although there is nothing to return yet
    return done > 0 ? done : fail(done);
}

ssize_t LinkTls::send(std::span<const std::uint8_t> from)
{
    ERR_clear_error();
    errno = 0;
    const int done = SSL_write(ssl_.get(), from.data(), static_cast<int>(std::min<std::size_t>(from.size(), INT_MAX)));
    is_send_waiting_for_input_ = done <= 0 && SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ;
    return done > 0 ? done : fail(done);
}

} // namespace opendoca::card
