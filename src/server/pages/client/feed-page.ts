import { subAgentsText } from '../../../base/sub-agents.ts'
import type { FeedTrace } from '../../../contract/feed.ts'
import { newRealtimeClient } from '../../../contract/realtime-client/client.ts'
import { announce } from './announce.ts'
import { element, icon } from './dom.ts'
import { subAgentsPath, tracePath } from './paths.ts'

/** More traces than the page shows: so a trace of the page that is missing in a value was not just pushed out by newer ones. */
const LIMIT = 100

const rowsByPath = (): Map<string, HTMLElement> =>
  new Map([...document.querySelectorAll<HTMLElement>('li[data-trace]')].map((row) => [row.dataset['trace']!, row]))

const mayRead = async (path: string): Promise<boolean> => {
  const answer = await fetch(path, { method: 'HEAD' }).catch(() => undefined)
  return answer === undefined || answer.ok || answer.status >= 500
}

const removeRow = (row: HTMLElement): void => {
  const section = row.closest('section')
  row.remove()
  if (section && !section.querySelector('li')) section.remove()
}

/** Shows how many sub-agents a session has now. */
const showSubAgents = (row: HTMLElement, { namespace, externalId, childCount = 0 }: FeedTrace): void => {
  const shown = row.querySelector('.below')
  if (childCount === 0) return shown?.remove()
  const text = `+${subAgentsText(childCount)}`
  if (shown?.textContent === text) return
  const link = element('a', { class: 'below', href: subAgentsPath(namespace.slug, externalId) }, text)
  if (shown) return shown.replaceWith(link)
  const meta = row.querySelector('.in .meta')
  meta?.insertBefore(link, meta.querySelector('.on'))
}

/**
 * Announces sessions that are newer than the list, loads the page again when the first session comes, removes those that the reader may no longer read,
 * and keeps the numbers of sub-agents.
 */
export const followFeed = (): void => {
  const query = new URLSearchParams(location.search)
  if (query.has('cursor')) return
  const { scope, user } = document.querySelector<HTMLElement>('main nav.seg')?.dataset ?? {}
  const label = element('span')
  const pill = element('a', { class: 'btn main pill newer', href: location.href }, icon('down'), label)
  const newer = new Set<string>()
  let before: ReadonlyMap<string, FeedTrace> | undefined

  const showNewer = () => {
    if (newer.size === 0) return pill.remove()
    const text = `${newer.size.toLocaleString('en')} newer`
    if (label.textContent === text && pill.isConnected) return
    label.textContent = text
    document.body.append(pill)
    announce(text)
  }

  const checkLost = async (path: string) => {
    newer.delete(path)
    const row = rowsByPath().get(path)
    if (row && !(await mayRead(path))) removeRow(row)
  }

  const changed = (traces: readonly FeedTrace[] | null): void => {
    if (!traces) {
      if (before) location.reload() // signed out meanwhile
      return
    }
    const shown = rowsByPath()
    const now = new Map(traces.map((trace) => [tracePath(trace.namespace.slug, trace.externalId), trace]))
    for (const [path, trace] of now) if (shown.has(path)) showSubAgents(shown.get(path)!, trace)
    for (const path of now.keys()) {
      if (shown.has(path) && !before) break // what follows is older than the list
      if (!shown.has(path) && !before?.has(path)) newer.add(path)
    }
    for (const path of before?.keys() ?? []) if (!now.has(path)) void checkLost(path)
    // A trace that the first value has and the page does not show would not be shown after loading again, either.
    const isFirst = before === undefined
    before = now
    if (shown.size === 0 && newer.size > 0 && !isFirst) location.reload()
    else showNewer()
  }

  const client = newRealtimeClient({ server: location.origin })
  const isListed = ({ author }: FeedTrace) => scope !== 'mine' || author?.id === user
  const value = (traces: readonly FeedTrace[] | null) => changed(traces?.filter(isListed) ?? null)
  const args = { limit: LIMIT, children: false }
  if (scope === 'own' || scope === 'mine') client.subscribe('feed:getNamespaceTraces', args, { value })
  else client.subscribe('feed:getPublicTraces', args, { value })
  addEventListener('pagehide', () => client.close())
}
