/** The groups of actions, in the order in which they are listed. */
export const groups = ['In a session', 'In lists', 'Everywhere'] as const

/** What a reader can do on a page, by a key or by its name in the palette. */
export type Action = {
  readonly name: string
  /** How the list of keys calls it together with its neighbours. Default: its name. */
  readonly line?: string
  /** Keys that are pressed one after another, such as `g h`. */
  readonly keys: string
  readonly group: (typeof groups)[number]
  readonly run: () => void
  /** Where it leads, if it is a place of the site. */
  readonly href?: string
}
