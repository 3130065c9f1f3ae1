// Device::str: the names that TARRY_DEVICE and messages use.
#include <tarry/device.h>

namespace tarry {

std::string Device::str() const {
  switch (kind) {
    case DeviceKind::Unplaced: return "unplaced";
    case DeviceKind::Cpu: return "cpu";
    case DeviceKind::Cuda: return "cuda:" + std::to_string(index);
  }
  return "unplaced";
}

}  // namespace tarry
