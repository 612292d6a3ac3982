/** A value as it may have been given away, with those of its secrets that were not known as such then. */
export type EarlierForm<T> = { readonly value: T; readonly unknown: readonly string[] }

type Sets = readonly (readonly string[])[]

/** Of so many secrets all sets are tried. */
const FEW = 4

const allSets = (secrets: readonly string[]): Sets =>
  secrets.reduce<Sets>((sets, secret) => sets.flatMap((set) => [set, [...set, secret]]), [[]])

/**
 * The likely sets, of secrets in the order in which they are found: a session is given away up to some place, and what is found
 * behind it was unknown then; each alone may have been allowed, or not found by older rules.
 */
const likelySets = (secrets: readonly string[]): Sets => [
  [],
  ...secrets.map((_, known) => secrets.slice(known)),
  ...secrets.slice(0, -1).map((secret) => [secret]),
]

/** The forms in which a value may have been given away: the one without secrets first. `redact` leaves some in. */
export function* earlierForms<T>(
  value: T,
  secrets: readonly string[],
  redact: (value: T, except: ReadonlySet<string>) => T,
): Generator<EarlierForm<T>> {
  const text = JSON.stringify(redact(value, new Set(secrets)))
  const held = secrets.filter((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
  const sets = held.length <= FEW ? allSets(held) : likelySets(held)
  for (const unknown of sets) yield { value: redact(value, new Set(unknown)), unknown }
}
