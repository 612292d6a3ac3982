import { announce } from './announce.ts'
import { button, element, icon } from './dom.ts'
import { unfoldAll } from './folds.ts'
import type { Reading } from './reading.ts'
import { reveal } from './reading.ts'
import { type Rows, ordinalOf, ROW } from './rows.ts'
import type { Session } from './session.ts'
import { markAll, markHere, rangesIn } from './marks.ts'

/** How often a message has the text that is looked for, and how often all earlier messages have it together. */
type Match = { readonly ordinal: number; readonly count: number; readonly before: number }
type Matches = { readonly text: string; readonly matches: readonly Match[]; readonly total: number }
type Answer = {
  readonly data: {
    readonly matches: readonly { readonly ordinal: number; readonly count: number }[]
    readonly total: number
  }
}

/** How long after the last key the text is looked for. */
const TYPING_MS = 200
/** A result is shown in the row of its call, which is at most so many rows earlier. */
const MOST_ROWS_BACK = 8

const ask = async ({ externalId, slug }: Session, text: string, signal: AbortSignal): Promise<Matches> => {
  const query = new URLSearchParams({ q: text, namespace: slug })
  const answer = await fetch(`/v1/traces/${encodeURIComponent(externalId)}/messages/matches?${query}`, { signal })
  if (!answer.ok) throw new Error(`matches: ${answer.status}`)
  const { data } = (await answer.json()) as Answer
  let before = 0
  const matches: Match[] = []
  for (const { ordinal, count } of data.matches) {
    matches.push({ ordinal, count, before })
    before += count
  }
  return { text, matches, total: data.total }
}

/** Finds a text in the whole session, also in parts that are closed or folded. Returns a function that shows the field for the text. */
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
  let found: Matches | undefined
  let asking = new AbortController()
  /** The current match: its index, the row that shows it, and the index of the current mark in that row. */
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

  /** The row that shows a message: its own row, or that of an earlier message, which has the text. */
  const rowOf = async ({ ordinal }: Match, text: string): Promise<HTMLElement | undefined> => {
    const nearest = await rows.of(ordinal)
    if (!nearest || ordinalOf(nearest) === ordinal) return nearest
    let looked = 0
    for (let row: HTMLElement | undefined = nearest; row && looked < MOST_ROWS_BACK; looked++) {
      if (row.matches(ROW) && rangesIn(row, text).length > 0) return row
      const before = rows.next(row, -1)[Symbol.asyncIterator]()
      row = (await before.next()).value as HTMLElement | undefined
    }
    return nearest
  }

  const show = async (index: number, last = false): Promise<void> => {
    const { text, matches, total } = found!
    const match = matches[index]!
    const row = await rowOf(match, text)
    if (!row || !found) return
    const shown = await rows.show(row)
    let ranges = rangesIn(shown, text)
    if (ranges.length < match.count) {
      await unfoldAll(shown).catch(() => {})
      ranges = rangesIn(shown, text)
    }
    // What a carriage return has overwritten is in no text of the page: all that may hold it is opened.
    if (ranges.length === 0)
      for (const call of shown.querySelectorAll<HTMLDetailsElement>('details.tool')) call.open = true
    const mark = last ? ranges.length - 1 : 0
    at = { index, row: shown, mark }
    markAll(messages, text)
    goToMark(ranges, mark)
    status.textContent = `${(match.before + Math.max(0, mark) + 1).toLocaleString('en')} of ${total.toLocaleString('en')}`
  }

  const goToMark = (ranges: readonly Range[], mark: number) => {
    const range = ranges[mark]
    const place = range?.startContainer.parentElement ?? at!.row
    reveal(place)
    markHere(range)
    place.scrollIntoView({ block: 'center', inline: 'nearest' })
  }

  const step = async (direction: 1 | -1) => {
    if (!found || found.matches.length === 0) return
    const { matches, total, text } = found
    if (!at) return show(0)
    const ranges = rangesIn(at.row, text)
    const mark = at.mark + direction
    const match = matches[at.index]!
    if (mark >= 0 && mark < ranges.length) {
      at = { ...at, mark }
      goToMark(ranges, mark)
      status.textContent = `${Math.min(match.before + mark + 1, total).toLocaleString('en')} of ${total.toLocaleString('en')}`
      return
    }
    let index = at.index
    const { row } = at
    do index = (index + direction + matches.length) % matches.length
    while (index !== at.index && (await rowOf(matches[index]!, text)) === row)
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
    if (answer.matches.length === 0) return void (status.textContent = 'Nothing found')
    const current = reading.current()
    const from = current ? ordinalOf(current) : 0
    const index = answer.matches.findIndex(({ ordinal }) => ordinal >= from)
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
