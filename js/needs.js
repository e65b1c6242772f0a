// Which rules are in effect: the active ones whose needs are met. A rule names those that it needs by their ids.
import { idOf } from "./identity.js";

const ANY_SITE = "*";

/** Switch off the rules whose needs are not met: the rest is the largest set in which every need is. */
export function switchOffUnmet(rules) {
  const needing = rules.filter((rule) => rule.isActive && rule.needs.length);
  if (!needing.length) return;
  const byId = new Map(rules.map((rule) => [idOf(rule), rule]));
  const neededBy = new Map();
  const unmet = [];
  for (const rule of needing) {
    const needed = rule.needs.map((id) => byId.get(id));
    if (needed.every((each) => each?.isActive && covers(each, rule))) {
      for (const each of needed) neededBy.set(each, [...(neededBy.get(each) ?? []), rule]);
    } else {
      unmet.push(rule);
    }
  }
  while (unmet.length) {
    const rule = unmet.pop();
    if (!rule.isActive) continue;
    rule.isActive = false;
    unmet.push(...(neededBy.get(rule) ?? []));
  }
}

/** Whether the needed rule is there on every site where the rule is. */
function covers(needed, rule) {
  if (needed.site !== ANY_SITE) return needed.site === rule.site;
  if (rule.site !== ANY_SITE) return !needed.exceptSites.includes(rule.site);
  return needed.exceptSites.every((site) => rule.exceptSites.includes(site));
}
