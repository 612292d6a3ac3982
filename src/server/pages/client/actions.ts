/** The groups of actions, in the order in which they are listed. */
export const groups = ['In a session', 'In lists', 'In insights', 'In a namespace', 'Everywhere'] as const

/** An action of a reader on a page, run by a key, or by its name in the palette. */
export type Action = {
  readonly name: string
  /** The name of its line in the list of keys, which it may share with other actions. Default: its name. */
  readonly line?: string
  /** Keys that are pressed one after another, such as `g h`. */
  readonly keys: string
  readonly group: (typeof groups)[number]
  readonly run: () => void
  /** Where it leads, if it is a place of the site. */
  readonly href?: string
}
