// Device: the names that TARRY_DEVICE and messages use.
#include <tarry/device.h>

#include "support/check.h"

namespace tarry {

std::string Device::str() const {
  switch (kind) {
    case DeviceKind::Unplaced: return "unplaced";
    case DeviceKind::Cpu: return "cpu";
    case DeviceKind::Cuda: return "cuda:" + std::to_string(index);
  }
  return "unplaced";
}

void detail::throw_no_device(int index, Where where) {
  TARRY_THROW(InvalidArgument, "cuda", where, "there is no device cuda:" + std::to_string(index));
}

}  // namespace tarry
