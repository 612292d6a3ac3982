import { readTracePath } from './paths.ts'

/** The session of a page, from attributes of the page. */
export type Session = {
  /** Its address without query, such as `/@acme/x`. */
  readonly path: string
  readonly slug: string
  readonly externalId: string
  /** How much of each message is shown: `full`, `talk` or `tools`. */
  readonly view: string
  /** The revision that the page shows, and the number of messages of the session. */
  revision: number
  count: number
}

export const sessionOf = (wrapper: HTMLElement): Session | undefined => {
  const { trace: path, revision, count } = wrapper.dataset
  const named = readTracePath(path ?? '')
  if (path === undefined || !named) return undefined
  return {
    path,
    ...named,
    view: new URLSearchParams(location.search).get('view') ?? 'full',
    revision: Number(revision),
    count: Number(count),
  }
}

/** The address of rows of the session. */
export const rowsPath = ({ path, view }: Session, which: string): string =>
  `${path}/-/rows?${which}${view === 'full' ? '' : `&view=${encodeURIComponent(view)}`}`
