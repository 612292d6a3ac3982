/** Words that people write where a secret would stand. */
const words =
  /^(?:password|passwd|pass|passphrase|secret|token|changeme|change[-_]me|redacted|hidden|none|null|undefined|true|false|dummy|fake|test(?:ing)?|admin|root|guest|postgres|mysql|user(?:name)?|foo|bar|baz|qwerty|letmein|hunter2|todo|tbd|n\/a)$/i
const marked =
  /your|example|placeholder|replace|insert|enter|sample|dummy|changeme|redacted|my[-_](?:secret|token|key|password)|not[-_]?a?[-_]?real|fake|x{4,}|\*{3,}|\.{3}|…|<|>|\$\{|\{\{|%[A-Z_]{1,40}%|\$\(|\$[A-Z_a-z]/i
const repeated = /^(.)\1{3,}$/

/** Whether a value stands where a secret would, and is none: a variable, a word such as `changeme`, a row of crosses. */
export const isPlaceholder = (value: string): boolean => words.test(value) || marked.test(value) || repeated.test(value)
