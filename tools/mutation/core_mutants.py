"""Faults made by hand in the canonicalizer, each where a slip of the pen would lose or invent a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CoreMutant:
    """One fault: in a file of the core, `old` (which stands there once) is written as `new`."""

    file: str
    old: str
    new: str

    @property
    def key(self) -> str:
        """What the mutant is."""
        return f"cpp/{self.file} | {self.old} → {self.new}"


FOLLOW, WALK, MATCH, APPLY = "program_follow.cpp", "program.cpp", "program_match.cpp", "program_apply.cpp"
CORE_MUTANTS = (
    # What ends early, ends wrongly: a second rule would have had its turn.
    CoreMutant(FOLLOW, "if (site.always_count || site.group_count == 0) return false;", "return true;"),
    CoreMutant(FOLLOW, "!is_found_by_host && !novelty", "!novelty"),
    CoreMutant(FOLLOW, "return !is_fixed || is_known(About::kCount", "return is_known(About::kCount"),
    CoreMutant(FOLLOW, "if (!is_whole(from) || !is_whole(to)) return true;", ""),
    CoreMutant(APPLY, "lane.suspects.size() == 1 && !shared_;", "lane.suspects.size() == 1;"),
    CoreMutant(APPLY, "lane.suspects.size() == 1 && !shared_;", "!shared_;"),
    # Cycles, limits, and leaving the site.
    CoreMutant(
        WALK, "left.size() < right.size() : left < right;", "left.size() > right.size() : left < right;"
    ),
    CoreMutant(
        WALK, "left.size() < right.size() : left < right;", "left.size() < right.size() : left > right;"
    ),
    CoreMutant(WALK, "if (next.size() > kLongestUrl) break;", ""),
    CoreMutant(WALK, "step <= kMostSteps; ++step", "step <= kMostSteps / 2; ++step"),
    CoreMutant(WALK, "member = earlier + 1; member < step", "member = earlier + 2; member < step"),
    CoreMutant(APPLY, "|| suffixes_.site_of_host(parts.host) == lane.rules.site;", "|| true;"),
    CoreMutant(APPLY, "if (parts.has_userinfo) return false;", ""),
    CoreMutant(APPLY, "(url.port == kNoPort || is_https == url.is_https);", "true;"),
    # Conditions and exceptions.
    CoreMutant(APPLY, "return std::all_of(when, when", "return true || std::all_of(when, when"),
    CoreMutant(APPLY, "return std::any_of(unless, unless", "return false && std::any_of(unless, unless"),
    CoreMutant(APPLY, "if (rule->kind == RuleKind::kKeep) return Effect::kKept;", ""),
    CoreMutant(WALK, "if (effect == Effect::kKept) return masked;", ""),
    CoreMutant(
        APPLY, "lane.rules.site)) return Effect::kNone;", 'std::string_view("?"))) return Effect::kNone;'
    ),
    CoreMutant(WALK, "if (head.is_mask || use == (", "if (use == ("),
    # Matching.
    CoreMutant(
        MATCH, "kHttp: return !url.is_https && !url.is_scheme_masked;", "kHttp: return !url.is_scheme_masked;"
    ),
    CoreMutant(MATCH, "|| is_inside_triplet(text, text.size() - literal.size())", ""),
    CoreMutant(MATCH, "labels <= pattern.labels : labels", "labels < pattern.labels : labels"),
    CoreMutant(MATCH, "if (!with_port && url.port != pattern.port) return false;", ""),
    CoreMutant(MATCH, "segments >= pattern.segments : segments", "segments > pattern.segments : segments"),
    CoreMutant(MATCH, "if (!pattern.open_query) return false;", ""),
    CoreMutant(MATCH, "return is_any || list.slot != kForgotten;", "return true;"),
    CoreMutant(MATCH, "if (takers[i] != Takers::kUntaken || url", "if (url"),
    CoreMutant(MATCH, "kNoEquals: return !parameter.has_equals;", "kNoEquals: return true;"),
    # Runs of characters.
    CoreMutant("program_mixture.cpp", "return text.size() == shape.size() && has_shape", "return has_shape"),
    CoreMutant("program_mixture.cpp", "return !text.empty() && std::all_of", "return std::all_of"),
    CoreMutant("program_mixture.cpp", "if (shift && word > skip) moved |=", "if (false) moved |="),
    # Replacements.
    CoreMutant("program_replace.cpp", "return !has(kWordBytes, url[at - 1]) ||", "return true ||"),
    CoreMutant("program_replace.cpp", "if (place > path_end) return Reach::kLittle;", ""),
    CoreMutant("program_replace.cpp", "if (rule.to.ends_with('/') && is_dot_behind) return true;", ""),
    # The index of a site's rules.
    CoreMutant("program_lookup.cpp", "if (!is_full) return;", "return;"),
    CoreMutant("program_lookup.cpp", "std::sort(out.begin(), out.end());", ""),
    CoreMutant(
        "program_lookup.cpp",
        "if (site.host_filter & part_bit(url.host)) look_up.add",
        "if (false) look_up.add",
    ),
    # Writing, and the normal form.
    CoreMutant("program_write.cpp", "if (to_path && c == '+') {\n      out.append(\"%20\");", "if (false) {"),
    CoreMutant(
        "url.cpp", "if (out.size() > start) out.resize(out.rfind('/'));", "out.resize(out.rfind('/'));"
    ),
    CoreMutant("url.cpp", "!exposed) {", "true) {"),
    CoreMutant("url.cpp", 'port == (parts.scheme.size() == 5 ? "443" : "80")', 'port == "80"'),
    CoreMutant("url.cpp", "if (value > 65535) return false;", "if (value > 65536) return false;"),
)
