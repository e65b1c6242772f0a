// Evidence as Python holds it: the columns stay alive as long as the object does.
#pragma once

#include "python.hpp"  // first: Python sets what the system's headers declare

#include <vector>

#include "evidence.hpp"

namespace undust {

class HeldEvidence {
 public:
  using Rows = Numbers<std::int64_t>;
  using Weights = Numbers<float>;

  HeldEvidence(Rows first_block, Rows blocks, Weights weights, Weights number_weights, Rows last_key, Rows first_title_word, Rows title_words,
               Weights title_weights, Rows label, Rows digest, Rows home, Rows language, Rows sketch_row, Numbers<bool> shows,
               Numbers<std::uint32_t> sketches, std::size_t minima)
      : numbers_{first_block, blocks, last_key, first_title_word, title_words, label, digest, home, language, sketch_row},
        weights_{weights, number_weights, title_weights},
        shows_(shows),
        sketches_(sketches),
        evidence_({span_of(first_block), span_of(blocks), span_of(weights), span_of(number_weights), span_of(last_key), span_of(first_title_word),
                   span_of(title_words), span_of(title_weights), span_of(label), span_of(digest), span_of(home),
                   span_of(language), span_of(sketch_row), span_of(shows), span_of(sketches), minima}) {}

  [[nodiscard]] Evidence& evidence() { return evidence_; }
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }

 private:
  std::vector<Rows> numbers_;
  std::vector<Weights> weights_;
  Numbers<bool> shows_;
  Numbers<std::uint32_t> sketches_;
  Evidence evidence_;
};

}  // namespace undust
