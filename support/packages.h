// Folders where Python's packages are installed: their libraries, such as NVRTC and OpenBLAS, serve any program.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tarry::support {

/// Existing paths that match a pattern of the shell, newest version first.
std::vector<std::string> matches(const std::string& pattern);

/// Folders to search before those that follow from the environment, for as long as the process lives.
void add_package_folders(std::span<const std::string> folders);

/// Existing folders of packages: those that were added, of VIRTUAL_ENV, CONDA_PREFIX, the user, /usr/local and /usr.
std::vector<std::string> package_folders();

}  // namespace tarry::support
