// A rule or a rule file that cannot be used. A bad URL is never an error.

export class RuleError extends Error {
  /**
   * @param {string} message what is wrong, and what to do
   * @param {{ rule?: number, field?: string, column?: number }} place counted from 1
   */
  constructor(message, { rule, field, column } = {}) {
    const places = [
      rule === undefined ? "" : `rule ${rule}`,
      field ? `"${field}"` : "",
      column === undefined ? "" : `column ${column}`,
    ].filter(Boolean);
    super(places.length ? `${places.join(", ")}: ${message}` : message);
    this.name = "RuleError";
    this.rule = rule;
    this.field = field || undefined;
    this.column = column;
  }
}
