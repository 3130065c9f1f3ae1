// Writes arrays as PNG: (height, width) is grey, (height, width, 3) red, green and blue.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <png.h>
#include <tarry/tarry.h>

namespace picture {

/// Values in [0, 1], rounded to bytes; values beyond are clipped.
inline void write_png(const std::string& path, const tarry::Array& image) {
  const tarry::Array bytes = tarry::astype(tarry::round(tarry::clip(image, 0.0F, 1.0F) * 255.0F), tarry::uint8);
  const std::vector<std::uint8_t> pixels = bytes.to_vector<std::uint8_t>();
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.format = image.ndim() == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png.height = static_cast<png_uint_32>(image.shape()[0]);
  png.width = static_cast<png_uint_32>(image.shape()[1]);
  if (png_image_write_to_file(&png, path.c_str(), 0, pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error("cannot write " + path + ": " + png.message);
}

}  // namespace picture
