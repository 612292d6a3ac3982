import type { Fragment } from './fragment.ts'
import { removeRow, replaceRow } from './merge.ts'
import { ROW, STOP, ordinalOf } from './rows.ts'

/** Messages have come in between, so that others have moved. */
export class Moved extends Error {}

/** The number of messages that are fetched at once: few enough to be measured within a frame. */
const CHUNK = 50
/** How many chunks are kept. Others are fetched again when they are needed. */
const MOST_CHUNKS = 32

/** A row, or a run of rows, as it is put into the page: the ordinal of its first message, and an element around it. */
export type Block = { readonly ordinal: number; readonly element: HTMLElement }

export type RowStore = {
  /** The block that begins with a message, if it is here. */
  block(ordinal: number): HTMLElement | undefined
  /** The row of a message, if it has one, and if that is here. */
  row(ordinal: number): HTMLElement | undefined
  /** Whether it is known what is shown for a message, be it nothing. */
  isKnown(ordinal: number): boolean
  /** Takes rows that are there already, of all messages from the first one to the last one. */
  take(content: ParentNode, first: number, last: number): readonly Block[]
  /** Puts a row in the place of an earlier one of its message, or in its own, if it is known what was shown there. @throws Moved */
  replace(row: HTMLElement): Block | undefined
  /** Takes the row of a message out that has none any more; returns what is left of its block. @throws Moved */
  remove(gone: HTMLElement): Block | undefined
  /** Has the rows of a message. Resolves once they are here. @throws NoFragment */
  load(ordinal: number): Promise<void>
  /** Forgets all rows. */
  clear(): void
  /** Forgets what is farthest from a message, but not blocks that are in use. */
  forget(from: number): void
}

export type StoreOptions = {
  readonly fetchRows: (from: number, limit: number) => Promise<Fragment>
  readonly count: () => number
  /** Called with new blocks, and the messages up to `last` that have none of their own. */
  readonly loaded: (blocks: readonly Block[], first: number, last: number) => void
}

/** The elements that belong together: each row, and each run with the name of its speaker before it. */
const blocksIn = (content: ParentNode): HTMLElement[][] => {
  const groups: HTMLElement[][] = []
  let waiting: HTMLElement[] = []
  for (const element of content.children as HTMLCollectionOf<HTMLElement>) {
    waiting.push(element)
    if (!element.matches(STOP)) continue
    groups.push(waiting)
    waiting = []
  }
  return groups
}

const fragmentOf = (row: HTMLElement): DocumentFragment => {
  const fragment = document.createDocumentFragment()
  fragment.append(row)
  return fragment
}

const rowsOf = (element: HTMLElement): HTMLElement[] =>
  element.matches(ROW) ? [element] : [...element.querySelectorAll<HTMLElement>(ROW)]

/** Rows of a long session, fetched in chunks. */
export const newRowStore = ({ fetchRows, count, loaded }: StoreOptions): RowStore => {
  const blocks = new Map<number, HTMLElement>()
  const rows = new Map<number, HTMLElement>()
  const known = new Set<number>()
  const chunks = new Map<number, Promise<void>>()

  const describe = (row: HTMLElement) => {
    row.setAttribute('aria-setsize', String(count()))
    row.setAttribute('aria-posinset', String(ordinalOf(row) + 1))
    row.tabIndex = -1
  }

  /** What is not here yet of a group of elements, in an element around it. */
  const newBlock = (group: readonly HTMLElement[]): Block | undefined => {
    const all = group.flatMap(rowsOf)
    for (const row of all) if (known.has(ordinalOf(row))) row.remove()
    const own = all.filter((row) => !known.has(ordinalOf(row)))
    const [first] = own
    if (!first) return undefined
    const element = document.createElement('div')
    element.className = 'item'
    element.append(...group.filter((one) => !all.includes(one) || own.includes(one)))
    const ordinal = ordinalOf(first)
    for (const row of own) {
      rows.set(ordinalOf(row), row)
      describe(row)
    }
    blocks.set(ordinal, element)
    return { ordinal, element }
  }

  const take: RowStore['take'] = (content, first, last) => {
    const made = blocksIn(content).flatMap((group) => newBlock(group) ?? [])
    for (let ordinal = first; ordinal <= last; ordinal++) known.add(ordinal)
    return made
  }

  const earlierOf = ({ dataset }: HTMLElement, ordinal: number) => {
    const row = rows.get(ordinal)
    if (row && row.dataset['id'] !== dataset['id']) throw new Moved()
    const element = row?.closest<HTMLElement>('.item')
    return row && element ? { row, element } : undefined
  }

  const replace: RowStore['replace'] = (row) => {
    const ordinal = ordinalOf(row)
    const old = earlierOf(row, ordinal)
    if (!old) return known.delete(ordinal) ? take(fragmentOf(row), ordinal, ordinal)[0] : undefined
    replaceRow(old.row, row)
    describe(row)
    rows.set(ordinal, row)
    return { ordinal: ordinalOf(old.element.querySelector<HTMLElement>(ROW)!), element: old.element }
  }

  const remove: RowStore['remove'] = (gone) => {
    const ordinal = ordinalOf(gone)
    const old = earlierOf(gone, ordinal)
    if (!old) return undefined
    const { element } = old
    blocks.delete(ordinalOf(element.querySelector<HTMLElement>(ROW)!))
    removeRow(old.row)
    rows.delete(ordinal)
    const first = element.querySelector<HTMLElement>(ROW)
    if (!first) return undefined
    blocks.set(ordinalOf(first), element)
    return { ordinal: ordinalOf(first), element }
  }

  const chunkOf = (ordinal: number) => Math.floor(ordinal / CHUNK)

  const fetchChunk = async (chunk: number) => {
    const first = chunk * CHUNK
    const { content } = await fetchRows(first, CHUNK)
    const last = Math.min(first + CHUNK, count()) - 1
    loaded(take(content, first, last), first, last)
  }

  const load: RowStore['load'] = (ordinal) => {
    const chunk = chunkOf(ordinal)
    const loading = chunks.get(chunk) ?? fetchChunk(chunk)
    chunks.delete(chunk) // the newest is the last one
    chunks.set(chunk, loading)
    loading.catch(() => chunks.delete(chunk))
    return loading
  }

  const drop = (chunk: number) => {
    const first = chunk * CHUNK
    const own = Array.from({ length: CHUNK }, (_, i) => first + i)
    if (own.some((ordinal) => blocks.get(ordinal)?.isConnected)) return
    for (const ordinal of own) {
      blocks.delete(ordinal)
      rows.delete(ordinal)
      known.delete(ordinal)
    }
    chunks.delete(chunk)
  }

  const forget: RowStore['forget'] = (from) => {
    const here = new Set([...known].map(chunkOf))
    const far = [...here].sort((a, b) => Math.abs(b - chunkOf(from)) - Math.abs(a - chunkOf(from)))
    for (const chunk of far.slice(0, Math.max(0, here.size - MOST_CHUNKS))) drop(chunk)
  }

  return {
    block: (ordinal) => blocks.get(ordinal),
    row: (ordinal) => rows.get(ordinal),
    isKnown: (ordinal) => known.has(ordinal),
    take,
    replace,
    remove,
    load,
    clear: () => {
      for (const all of [blocks, rows, known, chunks]) all.clear()
    },
    forget,
  }
}
