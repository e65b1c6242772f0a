// Arrow columns across the border, by the Arrow C data interface. No Arrow library is
// linked: the two structs below are the whole of that interface.
//
// Reading copies nothing: strings, large strings, string views and their binary sisters,
// sliced or with nulls, are seen where they lie. Writing hands the buffers over.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}

namespace undust {

// A column of texts that somebody else owns.
class TextColumn {
 public:
  TextColumn(const ArrowSchema& schema, const ArrowArray& array)
      : format_(schema.format), length_(array.length), offset_(array.offset), array_(&array) {
    if (format_ != "u" && format_ != "U" && format_ != "z" && format_ != "Z" && format_ != "vu" && format_ != "vz") {
      throw std::invalid_argument("expected a column of strings, got Arrow format '" + format_ +
                                  "'; cast it to string first");
    }
    nulls_ = static_cast<const std::uint8_t*>(array.buffers[0]);
  }

  [[nodiscard]] std::int64_t size() const { return length_; }
  [[nodiscard]] bool is_null(std::int64_t row) const {
    const std::int64_t at = row + offset_;
    return nulls_ && !(nulls_[at / 8] >> (at % 8) & 1);
  }
  [[nodiscard]] std::string_view operator[](std::int64_t row) const {
    const std::int64_t at = row + offset_;
    if (format_[0] == 'v') return text_of_view(at);
    return format_ == "u" || format_ == "z" ? text_between<std::int32_t>(at) : text_between<std::int64_t>(at);
  }

  // The format of a column made from this one: views become large strings.
  [[nodiscard]] std::string output_format() const { return format_[0] == 'v' ? large_format() : format_; }
  [[nodiscard]] std::string large_format() const { return format_.back() == 'u' || format_ == "U" ? "U" : "Z"; }

 private:
  template <typename Offset>
  [[nodiscard]] std::string_view text_between(std::int64_t at) const {
    const auto* offsets = static_cast<const Offset*>(array_->buffers[1]);
    const auto* bytes = static_cast<const char*>(array_->buffers[2]);
    return {bytes + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
  }

  // 16 bytes a view: the size, then the text itself if it is short, else a prefix, the
  // number of a data buffer and the place in it.
  [[nodiscard]] std::string_view text_of_view(std::int64_t at) const {
    const auto* view = static_cast<const char*>(array_->buffers[1]) + at * 16;
    std::int32_t fields[4];
    std::memcpy(fields, view, sizeof fields);
    const auto size = static_cast<std::size_t>(fields[0]);
    if (size <= 12) return {view + 4, size};
    return {static_cast<const char*>(array_->buffers[2 + fields[2]]) + fields[3], size};
  }

  std::string format_;
  std::int64_t length_, offset_;
  const ArrowArray* array_;
  const std::uint8_t* nulls_ = nullptr;
};

// A column that we made: format, length and buffers, shared by everyone it is handed to.
struct Column {
  std::string format;
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  std::vector<std::shared_ptr<const std::string>> buffers;  // null where Arrow wants none

  void export_to(ArrowSchema* schema, ArrowArray* array) const {
    struct Held {
      Column column;
      std::vector<const void*> pointers;
    };
    static const char kNothing[8] = {};
    auto held = std::make_unique<Held>();
    held->column = *this;
    for (const auto& buffer : buffers) {
      held->pointers.push_back(!buffer ? nullptr : buffer->empty() ? kNothing : buffer->data());
    }
    auto name = std::make_unique<std::string>(format);
    *array = {length, null_count, 0, static_cast<std::int64_t>(buffers.size()), 0, held->pointers.data(),
              nullptr, nullptr, nullptr, nullptr};
    array->private_data = held.release();
    array->release = [](ArrowArray* self) {
      delete static_cast<Held*>(self->private_data);
      self->release = nullptr;
    };
    *schema = {name->c_str(), "", nullptr, 2 /* nullable */, 0, nullptr, nullptr, nullptr, nullptr};
    schema->private_data = name.release();
    schema->release = [](ArrowSchema* self) {
      delete static_cast<std::string*>(self->private_data);
      self->release = nullptr;
    };
  }
};

template <typename Number>
[[nodiscard]] inline std::shared_ptr<const std::string> bytes_of_numbers(const std::vector<Number>& numbers) {
  return std::make_shared<const std::string>(reinterpret_cast<const char*>(numbers.data()),
                                             numbers.size() * sizeof(Number));
}

template <typename Number>
[[nodiscard]] inline Column number_column(const char* format, const std::vector<Number>& numbers) {
  return {format, static_cast<std::int64_t>(numbers.size()), 0, {nullptr, bytes_of_numbers(numbers)}};
}

// Texts in the making, one row after the other.
class TextBuilder {
 public:
  void reserve(std::int64_t rows, std::size_t bytes) {
    ends_.reserve(static_cast<std::size_t>(rows));
    text_.reserve(bytes);
  }
  // The bytes so far: append the next row's text here, then call end_row.
  [[nodiscard]] std::string& text() { return text_; }
  void end_row() { ends_.push_back(static_cast<std::int64_t>(text_.size())); }
  void append_null() {
    null_rows_.push_back(static_cast<std::int64_t>(ends_.size()));
    end_row();
  }
  void append(std::string_view row) {
    text_.append(row);
    end_row();
  }
  [[nodiscard]] std::string_view row(std::size_t number) const {
    const auto start = static_cast<std::size_t>(number == 0 ? 0 : ends_[number - 1]);
    return std::string_view(text_).substr(start, static_cast<std::size_t>(ends_[number]) - start);
  }
  // The rows of another builder, after these.
  void append_all(const TextBuilder& other) {
    const auto shift = static_cast<std::int64_t>(text_.size());
    const auto rows = static_cast<std::int64_t>(ends_.size());
    text_.append(other.text_);
    for (const auto end : other.ends_) ends_.push_back(end + shift);
    for (const auto row : other.null_rows_) null_rows_.push_back(row + rows);
  }

  // The finished column; `format` is one of u, z (32-bit offsets), U, Z (64-bit).
  [[nodiscard]] Column finish(const std::string& format) && {
    const auto rows = static_cast<std::int64_t>(ends_.size());
    Column column{format, rows, static_cast<std::int64_t>(null_rows_.size()), {nullptr, nullptr, nullptr}};
    if (!null_rows_.empty()) {
      std::string valid(static_cast<std::size_t>(rows + 7) / 8, '\xff');
      for (const auto row : null_rows_) {
        valid[static_cast<std::size_t>(row / 8)] &= static_cast<char>(~(1 << (row % 8)));
      }
      column.buffers[0] = std::make_shared<const std::string>(std::move(valid));
    }
    if (format == "u" || format == "z") {
      if (text_.size() > 0x7FFFFFFFu) {
        throw std::length_error("the result holds more than 2 GiB of text; pass large_string or smaller batches");
      }
      column.buffers[1] = offsets<std::int32_t>();
    } else {
      column.buffers[1] = offsets<std::int64_t>();
    }
    column.buffers[2] = std::make_shared<const std::string>(std::move(text_));
    return column;
  }

 private:
  template <typename Offset>
  [[nodiscard]] std::shared_ptr<const std::string> offsets() const {
    std::vector<Offset> all(ends_.size() + 1, 0);
    for (std::size_t i = 0; i < ends_.size(); ++i) all[i + 1] = static_cast<Offset>(ends_[i]);
    return bytes_of_numbers(all);
  }

  std::string text_;
  std::vector<std::int64_t> ends_, null_rows_;
};

}  // namespace undust
