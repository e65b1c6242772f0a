// A column of ours as another library would receive it.
#pragma once

#include "arrow.hpp"

namespace undust {

// Calls work(column) with what the column exports, and lets go of it afterwards.
template <typename Work>
void with_exported(const Column& column, Work&& work) {
  ArrowSchema schema{};
  ArrowArray array{};
  column.export_to(&schema, &array);
  work(TextColumn(schema, array));
  array.release(&array);
  schema.release(&schema);
}

}  // namespace undust
