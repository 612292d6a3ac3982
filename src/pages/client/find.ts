import { announce } from './announce.ts'
import { button, element, icon } from './dom.ts'
import { unfoldAll } from './folds.ts'
import type { Reading } from './reading.ts'
import { reveal } from './reading.ts'
import { type Rows, ordinalOf, ROW } from './rows.ts'
import type { Session } from './session.ts'
import { markAll, markHere, rangesIn } from './marks.ts'

/** What a message has of a text that is looked for; `before` is how often it occurs in those before. */
type Place = { readonly ordinal: number; readonly count: number; readonly before: number }
type Found = { readonly text: string; readonly places: readonly Place[]; readonly total: number }
type Answer = {
  readonly data: {
    readonly matches: readonly { readonly ordinal: number; readonly count: number }[]
    readonly total: number
  }
}

const TYPING_MS = 200

const ask = async ({ externalId, slug }: Session, text: string, signal: AbortSignal): Promise<Found> => {
  const query = new URLSearchParams({ q: text, namespace: slug })
  const answer = await fetch(`/v1/traces/${encodeURIComponent(externalId)}/messages/matches?${query}`, { signal })
  if (!answer.ok) throw new Error(`matches: ${answer.status}`)
  const { matches, total } = ((await answer.json()) as Answer).data
  let before = 0
  const places: Place[] = []
  for (const { ordinal, count } of matches) {
    places.push({ ordinal, count, before })
    before += count
  }
  return { text, places, total }
}

/** Finding a text in the whole session, also in what is closed or folded. */
export const newFind = (session: Session, messages: HTMLElement, rows: Rows, reading: Reading): (() => void) => {
  const field = element('input', {
    type: 'search',
    'aria-label': 'Find in this session',
    placeholder: 'Find in this session',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const status = element('span', { class: 'num', role: 'status' })
  const bar = element(
    'search',
    { class: 'find' },
    element('label', { class: 'field' }, icon('search'), field),
    status,
    button('Previous', 'down', () => void step(-1)),
    button('Next', 'down', () => void step(1)),
    button('Close', 'close', () => close()),
  )
  bar.hidden = true
  document.body.append(bar)
  let found: Found | undefined
  let asking = new AbortController()
  /** The place, the row that shows it, and which of the marks in that row is the current one. */
  let at: { index: number; row: HTMLElement; mark: number } | undefined
  let typing: ReturnType<typeof setTimeout> | undefined

  const forget = () => {
    found = at = undefined
    status.textContent = ''
    markAll(messages, '')
    markHere(undefined)
  }

  const close = () => {
    bar.hidden = true
    const row = at?.row ?? reading.current()
    forget()
    if (!row) return
    row.tabIndex = -1
    row.focus({ preventScroll: true })
  }

  /** The row that shows a place. A result is shown in the row of its call, which is an earlier one. */
  const rowOf = async ({ ordinal }: Place, text: string): Promise<HTMLElement | undefined> => {
    const nearest = await rows.of(ordinal)
    if (!nearest || ordinalOf(nearest) === ordinal) return nearest
    let looked = 0
    for (let row: HTMLElement | undefined = nearest; row && looked < 8; looked++) {
      if (row.matches(ROW) && rangesIn(row, text).length > 0) return row
      const before = rows.next(row, -1)[Symbol.asyncIterator]()
      row = (await before.next()).value as HTMLElement | undefined
    }
    return nearest
  }

  const show = async (index: number, last = false): Promise<void> => {
    const { text, places, total } = found!
    const place = places[index]!
    const row = await rowOf(place, text)
    if (!row || !found) return
    const shown = await rows.show(row)
    let ranges = rangesIn(shown, text)
    if (ranges.length < place.count) {
      await unfoldAll(shown).catch(() => {})
      ranges = rangesIn(shown, text)
    }
    const mark = last ? ranges.length - 1 : 0
    at = { index, row: shown, mark }
    markAll(messages, text)
    goToMark(ranges, mark)
    status.textContent = `${(place.before + Math.max(0, mark) + 1).toLocaleString('en')} of ${total.toLocaleString('en')}`
  }

  const goToMark = (ranges: readonly Range[], mark: number) => {
    const range = ranges[mark]
    const place = range?.startContainer.parentElement ?? at!.row
    reveal(place)
    markHere(range)
    place.scrollIntoView({ block: 'center', inline: 'nearest' })
  }

  const step = async (direction: 1 | -1) => {
    if (!found || found.places.length === 0) return
    const { places, total, text } = found
    if (!at) return show(0)
    const ranges = rangesIn(at.row, text)
    const mark = at.mark + direction
    const place = places[at.index]!
    if (mark >= 0 && mark < ranges.length) {
      at = { ...at, mark }
      goToMark(ranges, mark)
      status.textContent = `${Math.min(place.before + mark + 1, total).toLocaleString('en')} of ${total.toLocaleString('en')}`
      return
    }
    let index = at.index
    const { row } = at
    do index = (index + direction + places.length) % places.length
    while (index !== at.index && (await rowOf(places[index]!, text)) === row)
    return show(index, direction < 0)
  }

  const look = async () => {
    asking.abort()
    asking = new AbortController()
    const text = field.value
    forget()
    if (text === '') return
    const answer = await ask(session, text, asking.signal).catch(() => undefined)
    if (text !== field.value) return
    if (!answer) return announce('The session could not be searched. Try again')
    found = answer
    if (answer.places.length === 0) return void (status.textContent = 'Nothing found')
    const current = reading.current()
    const from = current ? ordinalOf(current) : 0
    const index = answer.places.findIndex(({ ordinal }) => ordinal >= from)
    await show(Math.max(0, index))
  }

  field.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(() => void look(), TYPING_MS)
  })
  bar.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && event.target === field) {
      clearTimeout(typing)
      void (found?.text === field.value ? step(event.shiftKey ? -1 : 1) : look())
    } else return
    event.preventDefault()
  })

  return () => {
    bar.hidden = false
    field.focus()
    field.select()
  }
}
