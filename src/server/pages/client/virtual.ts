import { Virtualizer, observeWindowOffset, observeWindowRect, windowScroll } from '@tanstack/virtual-core'
import type { Fragment } from './fragment.ts'
import { heightOfBar, isInReading } from './reading.ts'
import { goneIn } from './merge.ts'
import { type Rows, ROW, ordinalOf } from './rows.ts'
import { type Block, Moved, newRowStore, ordinalsOf } from './virtual-rows.ts'

/** The page also holds the rows within this distance of those in view, in pixels. */
const BEYOND = 400
/** How many messages beyond these are fetched before they are needed. */
const AHEAD = 40
/** The space between the bar of the site and the message that is scrolled to, in pixels. */
const SPACE = 24
/** How many frames a message that is scrolled to may take to appear in the page. */
const FRAMES_TO_SHOW = 60
/** How many messages before and after the first one in view are measured before the page is shown as a list. */
const NEAR = { before: 10, after: 20 }

export type VirtualOptions = {
  readonly messages: HTMLElement
  readonly count: number
  readonly fetchRows: (from: number, limit: number) => Promise<Fragment>
  /** Called with rows that were fetched, before they are shown. */
  readonly prepare: (content: ParentNode) => void
}

export type VirtualList = Rows & {
  toEnd(): void
  /** Puts rows into the list that were added or changed; returns how many are new. */
  merge(content: DocumentFragment, count: number): number
}

const topOf = (element: Element) => element.getBoundingClientRect().top

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))

/** Measures the heights that elements have, or would have, in the page. */
const newMeasure = (messages: HTMLElement) => {
  const place = document.createElement('div')
  place.className = 'measure'
  return (elements: readonly HTMLElement[]): number[] => {
    const detached = elements.filter((one) => !one.isConnected)
    place.append(...detached)
    messages.append(place)
    const heights = elements.map((one) => one.getBoundingClientRect().height)
    place.remove()
    for (const one of detached) one.remove()
    return heights
  }
}

/**
 * Makes the list of a long session hold only the rows in view: each message is an item of the list; those without a row of their own have no
 * height. Rows are fetched as they are needed, and measured before they are shown, so that nothing moves.
 */
export const newVirtualList = ({ messages, count: given, fetchRows, prepare }: VirtualOptions): VirtualList => {
  let count = given
  const measure = newMeasure(messages)
  const mounted = new Map<number, HTMLElement>()
  let isRendering = false
  let isStale = false

  /** Sets the heights of blocks, and the height 0 for those of `some` messages that have no block. */
  const resize = (blocks: readonly Block[], some: readonly number[]) => {
    const heights = measure(blocks.map(({ element }) => element))
    const sizes = new Map(blocks.map(({ ordinal }, i) => [ordinal, heights[i]!]))
    for (const ordinal of some) if (!store.block(ordinal)) sizes.set(ordinal, 0)
    isRendering = true // once, when all have their sizes
    for (const [ordinal, size] of sizes) {
      list.resizeItem(ordinal, size)
      list.getTotalSize() // the next one begins where this one ends
    }
    isRendering = false
    render()
  }

  const store = newRowStore({
    count: () => count,
    fetchRows: async (from, limit) => {
      messages.setAttribute('aria-busy', 'true')
      try {
        const fragment = await fetchRows(from, limit)
        prepare(fragment.content)
        return fragment
      } finally {
        messages.removeAttribute('aria-busy')
      }
    },
    loaded: (blocks, range) => {
      resize(blocks, ordinalsOf(range))
      rememberSoon() // when a jump ended there was nothing to remember yet
    },
  })

  // What the service has rendered is the beginning of the list, or the part around a message that a link leads to.
  const initial = [...messages.querySelectorAll<HTMLElement>(ROW)]
  const [firstOrdinal, lastOrdinal] = [initial[0], initial.at(-1)].map((row) => (row ? ordinalOf(row) : 0)) as [
    number,
    number,
  ]
  const here = messages.querySelector<HTMLElement>('.here') ?? document.getElementById(location.hash.slice(1))
  // The page stays where the browser has scrolled to already.
  const topOfHere = here && isInReading(here) ? topOf(here) : undefined
  // The rows leave the page, because all of them would be laid out now. The height keeps the scroll position until the list has its own.
  messages.style.blockSize = `${messages.offsetHeight}px`
  const content = document.createDocumentFragment()
  content.append(...messages.childNodes)
  messages.classList.add('virtual')
  let usual = 80 // the height of a row that was not measured yet, in pixels; later the mean of the first ones
  for (const turn of document.querySelectorAll('.turn, link[rel=prev], link[rel=next]')) turn.remove()
  let padding = heightOfBar() + SPACE
  const heldFocus = () => {
    const item = document.activeElement?.closest<HTMLElement>('.item')
    return item && messages.contains(item) ? Number(item.dataset['index']) : undefined
  }

  /** The last message in a direction that is within `BEYOND` pixels of a message in view. */
  const beyond = (index: number, step: 1 | -1): number => {
    let at = index
    for (let left = BEYOND; left > 0 && at + step >= 0 && at + step < count; at += step)
      left -= list.measurementsCache[at + step]?.size ?? usual
    return at
  }

  const scrollMargin = () => messages.getBoundingClientRect().top + scrollY
  const options = () => ({
    count,
    getScrollElement: () => window,
    estimateSize: () => usual,
    scrollToFn: windowScroll,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    initialOffset: () => scrollY,
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: scrollMargin(),
    scrollPaddingStart: padding,
    rangeExtractor: ({ startIndex, endIndex }: { readonly startIndex: number; readonly endIndex: number }) => {
      const indexes = ordinalsOf({ first: beyond(startIndex, -1), last: beyond(endIndex, 1) })
      const held = heldFocus()
      return held === undefined || indexes.includes(held) ? indexes : [...indexes, held].sort((a, b) => a - b)
    },
    onChange: () => render(),
  })
  const list = new Virtualizer<Window, HTMLElement>(options())

  /** Fetches the rows of a missing message: one in view, else one of `indexes`, else one around these. After a jump only messages in view are fetched. */
  const need = (indexes: readonly number[]) => {
    const [first = 0, last = 0] = [indexes[0], indexes.at(-1)]
    const view = { first: list.range?.startIndex ?? first, last: list.range?.endIndex ?? last }
    const inView = ordinalsOf(view)
    const around = [last + AHEAD, first - AHEAD]
      .map((index) => Math.min(Math.max(index, 0), count - 1))
      .filter((index) => !store.isSpare(index))
    const missing = [...inView, ...indexes, ...around].find((index) => count > 0 && !store.isKnown(index))
    if (missing === undefined) return
    const isBlank = !inView.some(store.isKnown)
    store.load(missing, isBlank ? view : undefined).catch(() => {}) // asked for again with the next scroll
  }

  const place = (element: HTMLElement, index: number, start: number) => {
    element.dataset['index'] = String(index)
    element.style.transform = `translateY(${start}px)`
  }

  const renderOnce = () => {
    const items = list.getVirtualItems()
    const margin = list.options.scrollMargin
    messages.style.blockSize = `${list.getTotalSize()}px`
    const wanted = new Set(items.map(({ index }) => index))
    for (const [index, element] of mounted)
      if (!wanted.has(index) || store.block(index) !== element) {
        element.remove()
        mounted.delete(index)
      }
    const added: HTMLElement[] = []
    let before: Element | null = null
    for (const { index, start } of items.toReversed()) {
      const element = store.block(index)
      if (!element) continue
      place(element, index, start - margin)
      if (!mounted.has(index)) {
        messages.insertBefore(element, before)
        mounted.set(index, element)
        added.push(element)
      }
      before = element
    }
    for (const element of added) list.measureElement(element)
    list.measureElement(null)
    need(items.map(({ index }) => index))
  }

  const render = () => {
    isStale = true
    if (isRendering) return
    isRendering = true
    while (isStale) {
      isStale = false
      renderOnce()
      list._willUpdate()
    }
    isRendering = false
  }

  /** The item of the list that a row is in, which has the ordinal of the first row in its block. */
  const indexOf = (row: HTMLElement): number =>
    ordinalOf(row.closest('.item, details.run')?.querySelector<HTMLElement>(ROW) ?? row)

  const start = () => {
    messages.setAttribute('role', 'feed')
    messages.setAttribute('aria-label', 'Messages')
    history.scrollRestoration = 'manual'
    const [from, to] = here ? [indexOf(here), ordinalOf(here)] : [firstOrdinal, firstOrdinal]
    const near = {
      first: Math.max(firstOrdinal, from - NEAR.before),
      last: Math.min(lastOrdinal, to + NEAR.after),
    }
    const blocks = store.keep(content, { first: firstOrdinal, last: lastOrdinal }, near)
    const height = measure(blocks.map(({ element }) => element)).reduce((sum, one) => sum + one, 0)
    if (height > 0) usual = height / (near.last + 1 - near.first)
    list._didMount()
    list._willUpdate()
    resize(blocks, ordinalsOf(near))
    new ResizeObserver(() => {
      list.setOptions(options())
      render()
    }).observe(document.querySelector('.head') ?? messages.parentElement!)
    addEventListener('scrollend', () => store.forget(list.range?.startIndex ?? 0))
  }

  const goTo = async (index: number, top = heightOfBar() + SPACE) => {
    padding = top
    list.setOptions(options())
    list.scrollToIndex(index, { align: 'start' })
    for (let i = 0; i < FRAMES_TO_SHOW && !mounted.has(index); i++) {
      render()
      await frame()
    }
  }

  const show: Rows['show'] = async (row) => {
    await arriving
    if (!row.isConnected) await goTo(indexOf(row))
    return row
  }

  const of: Rows['of'] = async (ordinal) => {
    for (let at = ordinal; at >= 0; at--) {
      if (!store.isKnown(at)) await store.load(at)
      const row = store.row(at)
      if (row) return row
    }
    return undefined
  }

  /** The element at which `j` and `k` stop for a row: the closed run of calls that holds it, or the row. */
  const stopOf = (row: HTMLElement): HTMLElement => row.closest<HTMLElement>('details.run:not([open])') ?? row

  const next: Rows['next'] = async function* (from, step) {
    const rowsOfFrom = from?.matches(ROW) ? [from] : [...(from?.querySelectorAll<HTMLElement>(ROW) ?? [])]
    const edge = step > 0 ? rowsOfFrom.at(-1) : rowsOfFrom[0]
    const firstOrLast = step > 0 ? 0 : count - 1
    let last = from
    for (let at = edge ? ordinalOf(edge) + step : firstOrLast; at >= 0 && at < count; at += step) {
      if (!store.isKnown(at)) await store.load(at)
      const row = store.row(at)
      const stop = row && stopOf(row)
      if (!stop || stop === last) continue
      last = stop
      yield stop
    }
  }

  const merge: VirtualList['merge'] = (content, total) => {
    const rows = [...content.querySelectorAll<HTMLElement>(ROW)]
    const gone = goneIn(content)
    const first = count
    count = rows.reduce((most, row) => Math.max(most, ordinalOf(row) + 1), Math.max(count, total))
    list.setOptions(options())
    store.dropSpare()
    try {
      const left = gone.flatMap((row) => store.remove(row) ?? [])
      const changed = rows.flatMap((row) => store.replace(row) ?? [])
      const added = store.take(content, { first, last: count - 1 })
      resize([...left, ...changed, ...added], [...gone.map(ordinalOf), ...ordinalsOf({ first, last: count - 1 })])
    } catch (error) {
      if (!(error instanceof Moved)) throw error
      store.clear()
      render()
    }
    return count - first
  }

  /** Remembers the place in the history for when the reader comes back: the browser cannot scroll to rows that are not in the page yet. */
  const remember = () => {
    const inOrder = [...mounted].sort(([a], [b]) => a - b)
    const first = inOrder.find(([, element]) => element.getBoundingClientRect().bottom > heightOfBar())
    if (first) history.replaceState({ index: first[0], top: topOf(first[1]) }, '')
  }

  const comeBack = async () => {
    const { index, top } = history.state as { readonly index: number; readonly top: number }
    await store.load(index)
    await goTo(index)
    const element = mounted.get(index)
    list.cancelScroll()
    if (element) list.scrollBy(topOf(element) - top)
  }

  let arriving: Promise<void> | undefined
  let remembering = 0
  const rememberSoon = () => {
    cancelAnimationFrame(remembering)
    remembering = requestAnimationFrame(remember) // when places are computed anyway
  }
  start()
  addEventListener('scrollend', rememberSoon)
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (entry?.type !== 'navigate' && history.state?.index !== undefined) void comeBack()
  else if (here) arriving = goTo(indexOf(here), topOfHere)
  return { next, of, show, merge, toEnd: () => list.scrollToEnd() }
}
