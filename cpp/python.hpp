// What every file of the border needs: Python's texts and columns as the core reads them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow.hpp"

namespace undust {

// Somebody's Arrow array, kept alive while we read it.
class BorrowedColumn {
 public:
  explicit BorrowedColumn(nanobind::handle owner) {
    if (!nanobind::hasattr(owner, "__arrow_c_array__")) {
      throw nanobind::type_error("expected an Arrow array (anything with __arrow_c_array__)");
    }
    capsules_ = nanobind::cast<nanobind::tuple>(owner.attr("__arrow_c_array__")());
    schema_ = static_cast<const ArrowSchema*>(PyCapsule_GetPointer(capsules_[0].ptr(), "arrow_schema"));
    array_ = static_cast<const ArrowArray*>(PyCapsule_GetPointer(capsules_[1].ptr(), "arrow_array"));
    if (!schema_ || !array_) throw nanobind::python_error();
  }
  [[nodiscard]] TextColumn texts() const { return {*schema_, *array_}; }
  // All texts, for those who go back and forth between them.
  [[nodiscard]] std::vector<std::string_view> views() const {
    const TextColumn column = texts();
    std::vector<std::string_view> found;
    found.reserve(static_cast<std::size_t>(column.size()));
    for (std::int64_t row = 0; row < column.size(); ++row) found.push_back(column[row]);
    return found;
  }

 private:
  nanobind::tuple capsules_;
  const ArrowSchema* schema_;
  const ArrowArray* array_;
};

// Somebody's NumPy column of numbers.
template <typename Number>
using Numbers = nanobind::ndarray<const Number, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename Number>
[[nodiscard]] std::span<const Number> span_of(const Numbers<Number>& numbers) {
  return {numbers.data(), numbers.size()};
}

// Our numbers as a NumPy array, which owns them from now on.
template <typename Number>
[[nodiscard]] nanobind::object array_of(std::vector<Number> numbers) {
  auto* held = new std::vector<Number>(std::move(numbers));
  const nanobind::capsule owner(held, [](void* self) noexcept { delete static_cast<std::vector<Number>*>(self); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, Number, nanobind::ndim<1>>(held->data(), {held->size()}, owner));
}

// The UTF-8 of a str; nothing for one with lone surrogates, which no URL has.
[[nodiscard]] inline std::optional<std::string_view> utf8_of(nanobind::handle text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes) return std::string_view(bytes, static_cast<std::size_t>(size));
  PyErr_Clear();
  return std::nullopt;
}

[[nodiscard]] inline nanobind::str str_of(std::string_view text) { return nanobind::str(text.data(), text.size()); }

}  // namespace undust
