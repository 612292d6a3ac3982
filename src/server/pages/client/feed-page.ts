import type { FeedTrace } from '../../../contract/feed.ts'
import { newRealtimeClient } from '../../../contract/realtime-client/client.ts'
import { announce } from './announce.ts'
import { element, icon } from './dom.ts'
import { NoFragment, fetchFragment } from './fragment.ts'
import { endRows, showRow } from './live-row.ts'
import { tracePath } from './paths.ts'
import { showLocalZone } from './zone.ts'

/** More traces than the page shows: so a trace of the page that is missing in a value was not just pushed out by newer ones. */
const LIMIT = 100
/** How long after an answer a list with a filter is fetched again at the earliest: the longer, the longer the answer took. */
const PAUSE_MS = 2_000
const PAUSES_PER_ANSWER = 20
type Rows = ReadonlyMap<string, HTMLElement>

const rowsIn = (part: ParentNode): Rows =>
  new Map([...part.querySelectorAll<HTMLElement>('li[data-trace]')].map((row) => [row.dataset['trace']!, row]))

const mayRead = async (path: string): Promise<boolean> => {
  const answer = await fetch(path, { method: 'HEAD' }).catch(() => undefined)
  return answer === undefined || answer.ok || answer.status >= 500
}

const removeRow = (row: HTMLElement): void => {
  const section = row.closest('section')
  row.remove()
  if (section && !section.querySelector('li')) section.remove()
}

/** The link that shows sessions which are newer than the list, or have come into it. */
const newPill = () => {
  const label = element('span')
  const pill = element('a', { class: 'btn main pill newer', href: location.href }, icon('down'), label)
  return (count: number): void => {
    if (count === 0) return pill.remove()
    const text = `${count.toLocaleString('en')} newer`
    if (label.textContent === text && pill.isConnected) return
    label.textContent = text
    document.body.append(pill)
    announce(text)
  }
}

type List = {
  /** Called with the newest sessions whenever one of them has changed; the first time without `before`. */
  changed(now: ReadonlyMap<string, FeedTrace>, before: ReadonlyMap<string, FeedTrace> | undefined): void
}

/**
 * A list as it is without a filter: announces sessions that are newer, loads the page again when the first one comes, and removes those that the reader may no
 * longer read.
 */
const wholeList = (): List => {
  const showNewer = newPill()
  const newer = new Set<string>()

  const checkLost = async (path: string) => {
    newer.delete(path)
    const row = rowsIn(document).get(path)
    if (row && !(await mayRead(path))) removeRow(row)
  }

  const changed: List['changed'] = (now, before) => {
    const shown = rowsIn(document)
    for (const path of now.keys()) {
      if (shown.has(path) && !before) break // what follows is older than the list
      if (!shown.has(path) && !before?.has(path)) newer.add(path)
    }
    for (const path of before?.keys() ?? []) if (!now.has(path)) void checkLost(path)
    // A trace that the first value has and the page does not show would not be shown after loading again, either.
    if (shown.size === 0 && newer.size > 0 && before) location.reload()
    else showNewer(newer.size)
  }
  return { changed }
}

const hasNextPage = (part: ParentNode): boolean => part.querySelector('a[rel=next]') !== null

/** How a page differs from what was fetched of it now: the rows that are gone, and how many others have come. */
const changesIn = (content: DocumentFragment): { readonly gone: Rows; readonly newer: number } => {
  const [shown, fresh] = [rowsIn(document), rowsIn(content)]
  const [paths, wanted] = [[...shown.keys()], [...fresh.keys()]]
  const end = paths.findLastIndex((path) => fresh.has(path))
  // Rows at the end that are missing may only have been pushed to the next page, and others there may come from it.
  const gone = paths.filter((path, i) => !fresh.has(path) && (i < end || !hasNextPage(content)))
  const last = hasNextPage(document) ? wanted.findLastIndex((path) => shown.has(path)) : wanted.length
  const newer = wanted.filter((path, i) => !shown.has(path) && (i < last || last < 0))
  return { gone: new Map(gone.map((path) => [path, shown.get(path)!])), newer: newer.length }
}

/** A list with a filter, or in another order: only the service knows what is in it, so that the page is fetched again after changes, while it is seen. */
const askedList = (readAt: number): List => {
  const showNewer = newPill()
  let [isFetching, isStale] = [false, false]
  let earliest = 0
  let waiting: ReturnType<typeof setTimeout> | undefined

  const show = (content: DocumentFragment): void => {
    const { gone, newer } = changesIn(content)
    if (newer > 0 && rowsIn(document).size === 0) return location.reload()
    for (const row of gone.values()) removeRow(row)
    showNewer(newer)
  }

  const refresh = async () => {
    isStale = false
    isFetching = true
    const began = performance.now()
    try {
      show((await fetchFragment(location.pathname + location.search, { isSentByScript: true })).content)
    } catch (error) {
      if (!(error instanceof NoFragment)) throw error
      isStale = true
    } finally {
      isFetching = false
      const took = performance.now() - began
      earliest = performance.now() + Math.max(PAUSE_MS, PAUSES_PER_ANSWER * took)
      if (isStale) later()
    }
  }

  const later = () => {
    isStale = true
    if (isFetching || document.hidden) return
    clearTimeout(waiting)
    waiting = setTimeout(() => void refresh(), Math.max(0, earliest - performance.now()))
  }
  document.addEventListener('visibilitychange', () => isStale && later())
  const changed: List['changed'] = (now, before) => {
    // The reader may have lost the right to what is missing: it leaves the list at once.
    if ([...(before?.keys() ?? [])].some((path) => !now.has(path))) earliest = 0
    if (before || [...now.values()].some(({ updatedAt = 0 }) => updatedAt >= readAt)) later()
  }
  return { changed }
}

/** Keeps a list of sessions up to date: what its rows say, and which ones it has. */
export const followFeed = (): void => {
  const { list, slug, author, now: readAt, asked } = document.querySelector<HTMLElement>('[data-list]')?.dataset ?? {}
  if (list !== undefined) showLocalZone()
  if (list === undefined || new URLSearchParams(location.search).has('cursor')) return
  const ahead = Number(readAt) - Date.now() // by how much the clock of the service is ahead of the reader's
  const clock = () => Date.now() + ahead
  const { changed } = asked === undefined ? wholeList() : askedList(Number(readAt))
  let before: ReadonlyMap<string, FeedTrace> | undefined
  let ending: ReturnType<typeof setTimeout> | undefined

  /** Ends rows when the time of their sessions to run is over. */
  const end = () => {
    clearTimeout(ending)
    const next = endRows(clock())
    if (next !== undefined) ending = setTimeout(end, next - clock())
  }

  const isListed = ({ author: by, namespace }: FeedTrace) =>
    (author === undefined || by?.id === author) && (slug === undefined || namespace.slug === slug)

  const value = (traces: readonly FeedTrace[] | null): void => {
    if (!traces) {
      if (before) location.reload() // signed out meanwhile, or no longer a member
      return
    }
    const listed = traces.filter(isListed)
    const now = new Map(listed.map((trace) => [tracePath(trace.namespace.slug, trace.externalId), trace]))
    const shown = rowsIn(document)
    for (const [path, trace] of now) if (shown.has(path)) showRow(shown.get(path)!, trace, clock())
    changed(now, before)
    before = now
    end()
  }

  const client = newRealtimeClient({ server: location.origin })
  const args = { limit: LIMIT, children: false }
  const named = slug === undefined ? {} : { namespace: slug }
  if (list === 'members') client.subscribe('feed:getNamespaceTraces', { ...args, ...named }, { value })
  else client.subscribe('feed:getPublicTraces', args, { value })
  end()
  addEventListener('pagehide', () => {
    client.close()
    clearTimeout(ending)
  })
}
