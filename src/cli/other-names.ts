/** What people call our commands who know other programs. Help does not list them: a command has one name. */
const otherNames: Readonly<Record<string, string>> = {
  delete: 'rm',
  remove: 'rm',
  erase: 'rm',
  list: 'ls',
  view: 'show',
  cat: 'show',
  publish: 'share',
}

/** Below `auth`, as other programs have it. */
const ofAuth = ['login', 'logout', 'status', 'token']

/** The words of a command line, with the command by its own name. */
export const withOwnName = (words: readonly string[]): readonly string[] => {
  const [first = '', ...rest] = words
  if (first === 'help') return ['help', ...withOwnName(rest)]
  if (first === 'auth' && ofAuth.includes(rest[0] ?? '')) return rest
  return Object.hasOwn(otherNames, first) ? [otherNames[first]!, ...rest] : words
}
