import { comparable } from '../../../base/folded.ts'
import { AHEAD, isSessionAhead, timeOrArrival } from '../../../base/time-ahead.ts'
import type { FeedTrace } from '../../../contract/feed.ts'
import { type Action } from './actions.ts'
import { newAsking, onTyping } from './asking.ts'
import { closest, element, icon } from './dom.ts'
import { type Hit, findHits, refusal, searchAddress } from './hits.ts'
import { modifier } from './keys.ts'
import type { OutlinePlace } from './outline.ts'
import { namespacePath, tracePath } from './paths.ts'
import { placesIn } from './places.ts'

/** The palette lists groups in this order. */
const groups = ['Sessions', 'On this page', 'Go', 'Found in sessions'] as const

type Item = {
  readonly group: (typeof groups)[number]
  readonly label: string
  readonly drawing: string
  /** What the line ends with: keys, or a time. */
  readonly end?: Node
  /** The text that was found. */
  readonly text?: Node | undefined
} & ({ readonly href: string } | { readonly run: () => void })

const MOST_OF_GROUP = 8

const fetchJson = async <T>(path: string): Promise<T | undefined> => {
  const answer = await fetch(path, { headers: { accept: 'application/json' } }).catch(() => undefined)
  return answer?.ok ? ((await answer.json()) as { data: T }).data : undefined
}

/** The day of a session, as lists have it. */
const dayOf = (trace: FeedTrace): Node => {
  const time = new Date(timeOrArrival(trace.startedAt, trace.createdAt))
  const mark = isSessionAhead(trace) ? [element('span', { class: 'tag' }, AHEAD), ' '] : []
  const day = time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  return element('span', { class: 'faint num' }, ...mark, day)
}

const recentTraces = async (): Promise<readonly Item[]> => {
  const feed = await fetchJson<{ traces: readonly FeedTrace[] }>('/v1/feed?children=false&limit=50')
  return (feed?.traces ?? []).map((trace) => ({
    group: 'Sessions',
    label: trace.title?.trim() || trace.ai_title?.trim() || trace.externalId,
    drawing: 'outline',
    href: tracePath(trace.namespace.slug, trace.externalId),
    end: dayOf(trace),
  }))
}

const namespaces = async (): Promise<readonly Item[]> => {
  if (document.body.dataset['session'] !== 'yes') return []
  const mine = await fetchJson<{ namespaces: readonly { readonly slug: string }[] }>('/v1/namespaces')
  return (mine?.namespaces ?? []).map(({ slug }) => ({
    group: 'Go',
    label: `@${slug}`,
    drawing: 'members',
    href: namespacePath(slug),
  }))
}

/** Items for links that the page has. */
const linksOf = (selector: string, group: Item['group'], drawing: string, label?: string): Item[] =>
  [...document.querySelectorAll<HTMLAnchorElement>(selector)].map((link) => ({
    group,
    label: label ?? link.textContent.trim(),
    drawing,
    href: link.getAttribute('href')!,
  }))

/** Each action once, with all of its keys. */
const actionItems = (actions: readonly Action[]): Item[] =>
  [...Map.groupBy(actions, ({ name }) => name)].map(([label, some]) => ({
    group: some[0]!.href === undefined ? 'On this page' : 'Go',
    label,
    drawing: 'chevron',
    ...(some[0]!.href === undefined ? { run: some[0]!.run } : { href: some[0]!.href }),
    end: element('span', { class: 'num' }, ...some.flatMap(({ keys }) => [element('kbd', {}, keys), ' '])),
  }))

const ofPage = (actions: readonly Action[], places: readonly OutlinePlace[]): Item[] => [
  ...actionItems(actions),
  ...places.map((place): Item => ({ ...place, group: 'On this page', drawing: 'outline' })),
  ...linksOf('.bar nav a', 'Go', 'chevron'),
  ...linksOf('.bar a.who', 'Go', 'settings', 'Settings'),
  ...linksOf('.site a', 'Go', 'chevron'),
]

/** Items without those that lead to the same address as an earlier one: a page may have the same link at its top and at its end. */
const withoutRepeats = (items: readonly Item[]): Item[] => {
  const seen = new Set<string>()
  return items.filter((item) => !('href' in item) || (!seen.has(item.href) && seen.add(item.href)))
}

const searchItem = (words: string): Item[] => {
  if (words === '' || !document.querySelector('form[role=search][action]')) return []
  return [
    {
      group: 'Go',
      label: `Search everything for “${words}”`,
      drawing: 'search',
      href: searchAddress(words),
    },
  ]
}

const hitItem = ({ href, title, text }: Hit): Item => ({
  group: 'Found in sessions',
  label: title.textContent,
  drawing: 'outline',
  href,
  text,
})

/** A label with the words marked that were searched for. */
const marked = (label: string, words: readonly string[]): HTMLElement => {
  const line = element('span', { dir: 'auto' })
  let at = 0
  for (const word of words) {
    const place = placesIn(label, word).find(([start]) => start >= at)
    if (!place) continue
    const [start, end] = place
    line.append(label.slice(at, start), element('mark', {}, label.slice(start, end)))
    at = end
  }
  line.append(label.slice(at))
  return line
}

const go = (item: Item, isNewTab: boolean): void => {
  if ('run' in item) item.run()
  else if (isNewTab) open(item.href, '_blank', 'noopener')
  else location.assign(item.href)
}

const hints = (): HTMLElement =>
  element(
    'footer',
    {},
    element('span', {}, element('kbd', {}, '↑'), ' ', element('kbd', {}, '↓'), ' choose'),
    element('span', {}, element('kbd', {}, 'Enter'), ' open'),
    element('span', {}, element('kbd', {}, modifier), ' ', element('kbd', {}, 'Enter'), ' in a new tab'),
  )

/** A list of all places and actions, found by words. Returns a function that shows it. */
export const newPalette = (actions: readonly Action[], places: () => readonly OutlinePlace[]): (() => void) => {
  const field = element('input', {
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    'aria-autocomplete': 'list',
    'aria-label': 'Go to or do',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Go to or do',
  })
  const list = element('div', { role: 'listbox', id: 'palette-list', 'aria-label': 'Results' })
  const status = element('p', { class: 'vh', role: 'status' })
  const dialog = element(
    'dialog',
    { class: 'palette', 'aria-label': 'Go to or do' },
    element('label', { class: 'field' }, icon('search'), field, element('kbd', {}, 'Esc')),
    list,
    status,
    hints(),
  )
  let fetched: readonly Item[] = []
  let found: readonly Item[] = []
  let shown: { readonly item: Item; readonly option: HTMLElement }[] = []
  let chosen = 0

  const choose = (index: number) => {
    chosen = shown.length === 0 ? 0 : (index + shown.length) % shown.length
    for (const [i, { option }] of shown.entries()) option.setAttribute('aria-selected', String(i === chosen))
    const option = shown[chosen]?.option
    field.setAttribute('aria-activedescendant', option?.id ?? '')
    option?.scrollIntoView({ block: 'nearest' })
  }

  const groupHtml = (name: string, items: readonly Item[], words: readonly string[]) => {
    const id = `palette-${name.replaceAll(' ', '-')}`
    const options = items.map((item) => {
      const option = element(
        'li',
        { role: 'option', id: `palette-${shown.length}` },
        icon(item.drawing),
        marked(item.label, words),
        ...(item.text ? [item.text] : []),
        ...(item.end ? [item.end] : []),
      )
      shown.push({ item, option })
      return option
    })
    list.append(
      element('h3', { role: 'presentation', id }, name),
      element('ul', { role: 'group', 'aria-labelledby': id }, ...options),
    )
  }

  const typed = () => field.value.trim()

  /** Lists what has the typed words in its name, and what was found. */
  const show = (index = 0) => {
    const text = typed()
    const words = text.split(/\s+/).filter(Boolean)
    const named = [...fetched, ...ofPage(actions, places())].filter(({ label }) =>
      words.every((word) => comparable(label).includes(comparable(word))),
    )
    const all = withoutRepeats([...named, ...searchItem(text), ...found])
    shown = []
    list.replaceChildren()
    for (const name of groups) {
      const items = all.filter(({ group }) => group === name)
      if (items.length > 0) groupHtml(name, items.slice(0, MOST_OF_GROUP), words)
    }
    if (shown.length === 0) list.append(element('p', { class: 'soft', role: 'status' }, 'Nothing has this name.'))
    choose(index)
  }

  const asking = newAsking({
    text: typed,
    ask: findHits,
    show: ({ says, hits }) => {
      found = hits.map(hitItem)
      show(chosen) // what was found is listed last, so that the chosen line stays
      status.textContent = says
    },
    fail: (code) => (status.textContent = refusal(code)),
  })

  const take = (index: number, isNewTab: boolean) => {
    const item = shown[index]?.item
    if (!item) return
    dialog.close()
    go(item, isNewTab)
  }

  onTyping(field, () => {
    if (typed() === '') found = []
    show()
    if (typed() === '') asking.stop()
    else asking.typed()
  })
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) choose(chosen + step)
    else if (event.key === 'Enter') take(chosen, event.ctrlKey || event.metaKey)
    else return
    event.preventDefault()
  })
  list.addEventListener('click', ({ target, ctrlKey, metaKey }) =>
    take(
      shown.findIndex(({ option }) => option === closest(target, 'li')),
      ctrlKey || metaKey,
    ),
  )
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
  document.body.append(dialog)

  return () => {
    if (dialog.open) return dialog.close()
    field.value = ''
    found = []
    asking.stop()
    show()
    dialog.showModal()
    void Promise.all([recentTraces(), namespaces()]).then(([traces, mine]) => {
      fetched = [...traces, ...mine]
      if (dialog.open) show(chosen)
    })
  }
}
