/** Names of our commands in other programs. They are accepted, but not listed in the help. */
const otherNames: Readonly<Record<string, string>> = {
  delete: 'rm',
  remove: 'rm',
  erase: 'rm',
  list: 'ls',
  view: 'show',
  cat: 'show',
  publish: 'share',
}

/** Other programs have these below `auth`. */
const ofAuth = ['login', 'logout', 'status', 'token']

/** The words of a command line, with the name of the command replaced by ours. */
export const withOwnName = (words: readonly string[]): readonly string[] => {
  const [first = '', ...rest] = words
  if (first === 'help') return ['help', ...withOwnName(rest)]
  if (first === 'auth' && ofAuth.includes(rest[0] ?? '')) return rest
  return Object.hasOwn(otherNames, first) ? [otherNames[first]!, ...rest] : words
}
