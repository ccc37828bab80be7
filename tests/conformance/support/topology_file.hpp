// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "memory.hpp"

namespace doca_test {

/// A file that holds a topology, and is gone at the end.
class TopologyFile {
public:
    explicit TopologyFile(const std::string &text)
    {
        const int fd = mkstemp(path_.data());
        if (fd < 0)
            throw std::runtime_error("mkstemp of " + path_);
        close(fd);
        std::ofstream(path_) << text;
    }
    TopologyFile(const TopologyFile &) = delete;
    TopologyFile &operator=(const TopologyFile &) = delete;
    ~TopologyFile() { unlink(path_.c_str()); }

    [[nodiscard]] const std::string &path() const { return path_; }

private:
    std::string path_ = temporary_directory() + "/opendoca-topology-XXXXXX";
};

} // namespace doca_test
