// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(SAMPLES::DMA_SOCKET);

#define RETRY_MS 100

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready, or the deadline has passed. */
static doca_error_t wait_for(int fd, short events, int64_t deadline, const char *what)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};

    for (;;) {
        const int64_t left = deadline - now_ms();
        const int ready = poll(&poll_fd, 1, left > 0 ? (int)left : 0);

        if (ready > 0)
            return DOCA_SUCCESS;
        if (ready == 0) {
            DOCA_LOG_ERR("The time limit has passed while %s", what);
            return DOCA_ERROR_TIME_OUT;
        }
        if (errno != EINTR) {
            DOCA_LOG_ERR("poll, while %s: %s", what, strerror(errno));
            return DOCA_ERROR_OPERATING_SYSTEM;
        }
    }
}

static doca_error_t resolve(const char *address, const char *port, int flags, struct addrinfo **found)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    const int error = getaddrinfo(address, port, &hints, found);

    if (error != 0) {
        DOCA_LOG_ERR("The address '%s' cannot be used: %s", address, gai_strerror(error));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

static int open_socket(const struct addrinfo *info)
{
    return socket(info->ai_family, info->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, info->ai_protocol);
}

static bool listen_at(int fd, const struct addrinfo *info)
{
    const int on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, 1) == 0;
}

static void show_name(int listener)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    char host[64];
    char port[8];

    if (getsockname(listener, (struct sockaddr *)&name, &size) == 0 &&
        getnameinfo((struct sockaddr *)&name, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        DOCA_LOG_INFO("Waiting for the sender at %s, port %s", host, port);
}

doca_error_t socket_listen(const char *address, const char *port, int *listener)
{
    struct addrinfo *found;
    doca_error_t result;
    int fd;

    result = resolve(address, port, AI_PASSIVE | AI_NUMERICSERV, &found);
    if (result != DOCA_SUCCESS)
        return result;
    fd = open_socket(found);
    if (fd < 0 || !listen_at(fd, found)) {
        DOCA_LOG_ERR("Cannot listen at %s, port %s: %s", address, port, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        freeaddrinfo(found);
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    freeaddrinfo(found);
    show_name(fd);
    *listener = fd;
    return DOCA_SUCCESS;
}

doca_error_t socket_accept(int listener, int timeout, int *connection)
{
    const int64_t deadline = now_ms() + (int64_t)timeout * 1000;

    for (;;) {
        const doca_error_t result = wait_for(listener, POLLIN, deadline, "waiting for the sender");
        int fd;

        if (result != DOCA_SUCCESS)
            return result;
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            *connection = fd;
            return DOCA_SUCCESS;
        }
        /* Whoever knocked may have left again. */
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            DOCA_LOG_ERR("accept: %s", strerror(errno));
            return DOCA_ERROR_OPERATING_SYSTEM;
        }
    }
}

/* One try. On failure errno tells why, unless the time is over. */
static doca_error_t try_to_connect(const struct addrinfo *info, int64_t deadline, int *connection)
{
    doca_error_t result = DOCA_SUCCESS;
    socklen_t size = sizeof(int);
    int error = 0;
    const int fd = open_socket(info);

    if (fd < 0)
        return DOCA_ERROR_NOT_CONNECTED;
    if (connect(fd, info->ai_addr, info->ai_addrlen) != 0) {
        error = errno;
        if (error == EINPROGRESS || error == EINTR) {
            result = wait_for(fd, POLLOUT, deadline, "connecting");
            if (result == DOCA_SUCCESS && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
                error = errno;
        }
    }
    if (result == DOCA_SUCCESS && error == 0) {
        *connection = fd;
        return DOCA_SUCCESS;
    }
    (void)close(fd);
    errno = error;
    return result != DOCA_SUCCESS ? result : DOCA_ERROR_NOT_CONNECTED;
}

/* A name can have several addresses. */
static doca_error_t try_each(const struct addrinfo *info, int64_t deadline, int *connection)
{
    doca_error_t result;

    do {
        result = try_to_connect(info, deadline, connection);
        info = info->ai_next;
    } while (result == DOCA_ERROR_NOT_CONNECTED && info != NULL);
    return result;
}

doca_error_t socket_connect(const char *address, const char *port, int timeout, int *connection)
{
    const int64_t deadline = now_ms() + (int64_t)timeout * 1000;
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    struct addrinfo *found;
    bool was_said = false;
    doca_error_t result;

    result = resolve(address, port, AI_NUMERICSERV, &found);
    if (result != DOCA_SUCCESS)
        return result;
    while ((result = try_each(found, deadline, connection)) == DOCA_ERROR_NOT_CONNECTED) {
        if (errno != ECONNREFUSED || now_ms() >= deadline) {
            DOCA_LOG_ERR("Cannot connect to %s, port %s: %s", address, port, strerror(errno));
            break;
        }
        if (!was_said)
            DOCA_LOG_INFO("Nobody listens at %s, port %s; trying for %d seconds", address, port, timeout);
        was_said = true;
        (void)nanosleep(&pause, NULL);
    }
    freeaddrinfo(found);
    return result;
}

static doca_error_t send_all(int fd, const void *data, size_t len, int64_t deadline)
{
    const uint8_t *rest = data;

    while (len > 0) {
        const ssize_t sent = send(fd, rest, len, MSG_NOSIGNAL);

        if (sent >= 0) {
            rest += sent;
            len -= (size_t)sent;
        } else if (errno == EAGAIN) {
            const doca_error_t result = wait_for(fd, POLLOUT, deadline, "sending");

            if (result != DOCA_SUCCESS)
                return result;
        } else if (errno != EINTR) {
            DOCA_LOG_ERR("Sending has failed: %s", strerror(errno));
            return DOCA_ERROR_CONNECTION_RESET;
        }
    }
    return DOCA_SUCCESS;
}

static doca_error_t receive_all(int fd, void *data, size_t len, int64_t deadline, const char *what)
{
    uint8_t *rest = data;

    while (len > 0) {
        const ssize_t got = recv(fd, rest, len, 0);

        if (got > 0) {
            rest += got;
            len -= (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            const doca_error_t result = wait_for(fd, POLLIN, deadline, what);

            if (result != DOCA_SUCCESS)
                return result;
        } else if (got == 0 || errno != EINTR) {
            DOCA_LOG_ERR("The connection has ended while %s: %s", what, got == 0 ? "closed" : strerror(errno));
            return DOCA_ERROR_CONNECTION_RESET;
        }
    }
    return DOCA_SUCCESS;
}

/* The fixed part of a message. */
struct descriptor_header {
    char magic[8];
    uint32_t descriptor_len;
    uint32_t zero;
    uint64_t addr;
    uint64_t len;
};

struct outcome_message {
    char magic[8];
    uint32_t outcome;
    uint32_t zero;
};

static const char descriptor_magic[8] = {'O', 'D', 'M', 'A', 'D', 'E', 'S', 'C'};
static const char outcome_magic[8] = {'O', 'D', 'M', 'A', 'D', 'O', 'N', 'E'};

_Static_assert(sizeof(struct descriptor_header) == 32, "no padding");
_Static_assert(sizeof(struct outcome_message) == 16, "no padding");

doca_error_t send_exported_memory(int connection, int timeout, const struct exported_memory *memory)
{
    const int64_t deadline = now_ms() + (int64_t)timeout * 1000;
    struct descriptor_header header = {
        .descriptor_len = htobe32((uint32_t)memory->descriptor_len),
        .addr = htobe64(memory->addr),
        .len = htobe64(memory->len),
    };
    doca_error_t result;

    memcpy(header.magic, descriptor_magic, sizeof(header.magic));
    result = send_all(connection, &header, sizeof(header), deadline);
    if (result == DOCA_SUCCESS)
        result = send_all(connection, memory->descriptor, memory->descriptor_len, deadline);
    return result;
}

doca_error_t receive_exported_memory(int connection, int timeout, struct exported_memory *memory)
{
    static const char what[] = "waiting for the descriptor";
    const int64_t deadline = now_ms() + (int64_t)timeout * 1000;
    struct descriptor_header header;
    doca_error_t result;

    result = receive_all(connection, &header, sizeof(header), deadline, what);
    if (result != DOCA_SUCCESS)
        return result;
    memory->descriptor_len = be32toh(header.descriptor_len);
    memory->addr = be64toh(header.addr);
    memory->len = be64toh(header.len);
    if (memcmp(header.magic, descriptor_magic, sizeof(header.magic)) != 0 || header.zero != 0) {
        DOCA_LOG_ERR("What has connected is not the sender of this sample");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (memory->descriptor_len == 0 || memory->descriptor_len > sizeof(memory->descriptor)) {
        DOCA_LOG_ERR("The sender announces a descriptor of %zu bytes, and 1 to %d are expected", memory->descriptor_len,
                     MAX_DESCRIPTOR_SIZE);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return receive_all(connection, memory->descriptor, memory->descriptor_len, deadline, what);
}

doca_error_t send_outcome(int connection, int timeout, doca_error_t outcome)
{
    struct outcome_message message = {.outcome = htobe32((uint32_t)outcome)};

    memcpy(message.magic, outcome_magic, sizeof(message.magic));
    return send_all(connection, &message, sizeof(message), now_ms() + (int64_t)timeout * 1000);
}

doca_error_t receive_outcome(int connection, int timeout, doca_error_t *outcome)
{
    struct outcome_message message;
    doca_error_t result;

    result = receive_all(connection, &message, sizeof(message), now_ms() + (int64_t)timeout * 1000,
                         "waiting for the receiver's acknowledgement");
    if (result != DOCA_SUCCESS)
        return result;
    if (memcmp(message.magic, outcome_magic, sizeof(message.magic)) != 0 || message.zero != 0) {
        DOCA_LOG_ERR("What was connected to is not the receiver of this sample");
        return DOCA_ERROR_INVALID_VALUE;
    }
    *outcome = (doca_error_t)be32toh(message.outcome);
    return DOCA_SUCCESS;
}
