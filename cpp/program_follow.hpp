// Whether any rule of a site can see what a rule made of a URL.
//
// After a change the new URL is looked up again, until no rule sees it. Most rules end that at
// once: they take away what they were found by, and write nothing that another rule asks for. Of
// such a rule it is known when it is compiled, and the second look is saved.
//
// What is proven is this. Let the index of the site have found exactly one thing in the URL, and a
// rule by it that is final. Then it finds nothing in the result:
//   hosts     are the same before and after, and no final rule is found by its host;
//   segments  of the result are literals which the index does not know, wherever it looks;
//   names     are some of those the URL had, without the one that the rule was found by, or
//             literals which the index does not know;
//   words     likewise, since captures were and are whole parts between "/", "?", "&" and "=".
#pragma once

#include "program_index.hpp"

namespace undust {

// Whether that holds for a rule, of which a rewrite keeps the authority and a replacement stands in
// the path. `index` has all rules of the site, this one too.
[[nodiscard]] bool is_final(const ParsedRule& rule, const PieceView& pieces, const IndexView& index);

}  // namespace undust
