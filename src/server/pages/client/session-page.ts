import type { Action } from './actions.ts'
import { button, element, plural } from './dom.ts'
import { newFind } from './find.ts'
import { startFolds } from './folds.ts'
import { newFollowing } from './following.ts'
import { fetchFragment } from './fragment.ts'
import { followSession } from './live.ts'
import { mergeRows } from './merge.ts'
import { type OutlinePlace, startOutline } from './outline.ts'
import { isInReading, newReading, type Reading } from './reading.ts'
import { type Rows, rowsInPage } from './rows.ts'
import { sessionActions } from './session-actions.ts'
import { rowsPath, type Session, sessionOf } from './session.ts'
import { showLocalTimes } from './times.ts'

/** How long after its last change a session is shown as running. */
const RUNNING_MS = 2 * 60_000

let ending: ReturnType<typeof setTimeout> | undefined

/** Says below the messages that the session is running, until it has not changed for a while. */
const showTail = (wrapper: HTMLElement, session: Session): void => {
  const said = wrapper.querySelector('.tail > span')
  if (!said) return
  const running = element('span', { class: 'live' }, 'Still running')
  said.replaceWith(running)
  clearTimeout(ending)
  ending = setTimeout(() => running.replaceWith(element('span', {}, plural(session.count, 'message'))), RUNNING_MS)
}

/** A longer session has only those rows in the page that are in view. */
const MOST_IN_PAGE = 1_000

/** The list of messages: one with all rows in the page, or one with only those in view. */
type List = {
  readonly rows: Rows
  readonly toEnd: () => void
  /** Puts changed rows into the page; returns how many are new. */
  readonly merge: (content: DocumentFragment) => number
}

const plainList = (messages: HTMLElement): List => ({
  rows: rowsInPage(messages),
  toEnd: () => scrollTo(0, document.documentElement.scrollHeight),
  merge: (content) => mergeRows(messages, content).length,
})

const virtualList = async (messages: HTMLElement, session: Session): Promise<List> => {
  const { newVirtualList } = await import('./virtual.ts')
  const list = newVirtualList({
    messages,
    count: session.count,
    fetchRows: (from, limit) => fetchFragment(rowsPath(session, `from=${from}&limit=${limit}`)),
    prepare: showLocalTimes,
  })
  return { rows: list, toEnd: list.toEnd, merge: (content) => list.merge(content, session.count) }
}

const listOf = (messages: HTMLElement, session: Session): Promise<List> | List =>
  session.count > MOST_IN_PAGE ? virtualList(messages, session) : plainList(messages)

/** Puts the counts that come with changed rows into the head of the page. */
const showCounts = (wrapper: HTMLElement, content: DocumentFragment) => {
  const lines = content.querySelectorAll('.counts')
  if (lines.length === 0) return
  for (const shown of wrapper.querySelectorAll('.head .counts')) shown.remove()
  wrapper.querySelector('.head .acts')?.before(...lines)
}

/** Follows the session while the page is shown. */
const startFollowing = (session: Session, wrapper: HTMLElement, { toEnd, merge }: List, merged: () => void) => {
  const following = newFollowing(toEnd)
  const changed = (content: DocumentFragment) => {
    showLocalTimes(content)
    showCounts(wrapper, content)
    following.grow(() => merge(content))
    merged()
    showTail(wrapper, session)
  }
  let stop = followSession(session, wrapper, { changed })
  // A page that is kept for going back has no connection; it asks again before anybody reads it.
  addEventListener('pagehide', () => stop())
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) stop = followSession(session, wrapper, { changed })
  })
}

/** Goes to the message that the address names, unless the browser knows where the reader was. */
const goToLinked = async (here: HTMLElement, rows: Rows, reading: Reading) => {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (entry?.type !== 'navigate') return
  const row = await rows.show(here)
  if (isInReading(row)) row.focus({ preventScroll: true })
  else await reading.goTo(row)
}

/** The actions on the page of a session, and the prompts of its outline. */
type SessionPage = { readonly actions: readonly Action[]; readonly places: () => readonly OutlinePlace[] }

/** The page of a session: reading, finding, following. */
export const startSession = async (messages: HTMLElement, wrapper: HTMLElement): Promise<SessionPage> => {
  const session = sessionOf(wrapper)
  if (!session) return { actions: [], places: () => [] }
  const nav = document.getElementById('outline')
  const here = messages.querySelector<HTMLElement>('.here')
  const list = await listOf(messages, session)
  const reading = newReading(messages, list.rows)
  const goTo = async (ordinal: number) => {
    const row = await list.rows.of(ordinal)
    if (row) await reading.goTo(row)
  }
  const outline = nav ? startOutline(nav, messages, goTo) : undefined
  startFolds(messages)
  // What is said once is not said again by a reload, or to whom the address is sent.
  if (document.getElementById('published')) history.replaceState(history.state, '', location.pathname)
  if (here) void goToLinked(here, list.rows, reading)
  startFollowing(session, wrapper, list, () => outline?.grow(messages))
  const find = newFind(session, messages, list.rows, reading)
  // Phones have no keys, so there is a button, too.
  document.querySelector('.dock [data-copy=link]')?.before(button('Find in this session', 'search', find))
  return {
    actions: [
      ...sessionActions(messages, reading, list.toEnd),
      { keys: '/', name: 'Find in this session', group: 'In a session', run: find },
    ],
    places: () => outline?.places() ?? [],
  }
}
