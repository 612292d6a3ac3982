import type { Fragment } from './fragment.ts'
import { removeRow, replaceRow } from './merge.ts'
import { ROW, STOP, ordinalOf } from './rows.ts'

/** A row has another message than the one known by its ordinal: messages were inserted before it, so all rows have to be fetched again. */
export class Moved extends Error {}

/** The number of messages that are fetched at once. */
const CHUNK = 50
/** The number of chunks that are kept. Others are fetched again when they are needed. */
const MOST_CHUNKS = 32
/** The number of messages whose rows are put into the page at once: few enough to be measured within a frame. */
const PART = 10

/** The ordinals of successive messages, both inclusive. */
type OrdinalRange = { readonly first: number; readonly last: number }

/** A row, or a run of rows, as it is put into the page: the ordinal of its first message, and an element around it. */
export type Block = { readonly ordinal: number; readonly element: HTMLElement }

type RowStore = {
  /** The block that begins with a message, if it is here. */
  block(ordinal: number): HTMLElement | undefined
  /** The row of a message, if it has one, and if that is here. */
  row(ordinal: number): HTMLElement | undefined
  /** Whether the row of a message is here, or is known not to exist: a result, for example, is shown in the row of its call. */
  isKnown(ordinal: number): boolean
  /** Whether rows of a message are here, because they came with the page or with other rows, but are not known yet: see `keep`. */
  isSpare(ordinal: number): boolean
  /** Keeps the rows of all these messages until they are needed; makes those of the needed messages known, and returns their blocks. */
  keep(content: ParentNode, all: OrdinalRange, needed: OrdinalRange): readonly Block[]
  /** Makes rows known, which are all the rows of these messages, and returns their blocks. */
  take(content: ParentNode, range: OrdinalRange): readonly Block[]
  /** Replaces the earlier row of a message, or adds its first row if it is known that it had none. Returns the changed block. @throws Moved */
  replace(row: HTMLElement): Block | undefined
  /** Removes the row of a message that no longer has one; `gone` is its placeholder. Returns the rest of its block. @throws Moved */
  remove(gone: HTMLElement): Block | undefined
  /** Makes the rows of a message known, and of messages near it; only of messages `within` a range, if it is given. @throws NoFragment */
  load(ordinal: number, within?: OrdinalRange): Promise<void>
  /** Forgets the rows that are not known yet, because messages have changed since they came. */
  dropSpare(): void
  /** Forgets all rows. */
  clear(): void
  /** Forgets the blocks that are farthest from a message, except blocks in the page, if more than `MOST_CHUNKS` chunks are kept. */
  forget(from: number): void
}

type StoreOptions = {
  readonly fetchRows: (from: number, limit: number) => Promise<Fragment>
  readonly count: () => number
  /** Called with new blocks, and the range of the messages that are now known; some of these have no block of their own. */
  readonly loaded: (blocks: readonly Block[], range: OrdinalRange) => void
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

export const ordinalsOf = ({ first, last }: OrdinalRange): number[] =>
  Array.from({ length: Math.max(0, last + 1 - first) }, (_, i) => first + i)

/** Rows of a long session, fetched in chunks. */
export const newRowStore = ({ fetchRows, count, loaded }: StoreOptions): RowStore => {
  const blocks = new Map<number, HTMLElement>()
  const rows = new Map<number, HTMLElement>()
  const known = new Set<number>()
  const loading = new Map<OrdinalRange, Promise<void>>()
  /** The elements of blocks that are not known yet, by each of their messages; and all messages with spare rows, also those without a block. */
  const spare = new Map<number, readonly HTMLElement[]>()
  const spareMessages = new Set<number>()

  const describe = (row: HTMLElement) => {
    row.setAttribute('aria-setsize', String(count()))
    row.setAttribute('aria-posinset', String(ordinalOf(row) + 1))
    row.tabIndex = -1
  }

  /** A block of those rows in a group that are not known yet; undefined if all are known. */
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

  const know = ({ first, last }: OrdinalRange) => {
    for (let ordinal = first; ordinal <= last; ordinal++) known.add(ordinal)
  }

  const take: RowStore['take'] = (content, range) => {
    const made = blocksIn(content).flatMap((group) => newBlock(group) ?? [])
    know(range)
    return made
  }

  /** Makes the spare blocks of some messages known. A block may begin before these messages. */
  const takeSpare = (range: OrdinalRange): Block[] => {
    const made = ordinalsOf(range).flatMap((ordinal) => {
      const group = spare.get(ordinal) ?? []
      for (const row of group.flatMap(rowsOf)) spare.delete(ordinalOf(row))
      spareMessages.delete(ordinal)
      return newBlock(group) ?? []
    })
    know(range)
    return made
  }

  const keep: RowStore['keep'] = (content, all, needed) => {
    for (const group of blocksIn(content)) for (const row of group.flatMap(rowsOf)) spare.set(ordinalOf(row), group)
    for (const ordinal of ordinalsOf(all)) spareMessages.add(ordinal)
    return takeSpare(needed)
  }

  const dropSpare = () => {
    spare.clear()
    spareMessages.clear()
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
    if (!old) return known.delete(ordinal) ? take(fragmentOf(row), { first: ordinal, last: ordinal })[0] : undefined
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

  const isIn = ({ first, last }: OrdinalRange, ordinal: number) => ordinal >= first && ordinal <= last
  const loadingOf = (ordinal: number) => [...loading].find(([range]) => isIn(range, ordinal))?.[1]

  /** The unknown messages around a message that can be loaded together with it: all spare, or all to be fetched. */
  const missingAround = (ordinal: number, within: OrdinalRange): OrdinalRange => {
    const isSpare = spareMessages.has(ordinal)
    const isMissing = (one: number) =>
      isIn(within, one) && !known.has(one) && spareMessages.has(one) === isSpare && !loadingOf(one)
    let [first, last] = [ordinal, ordinal]
    while (isMissing(first - 1)) first--
    while (isMissing(last + 1)) last++
    return { first, last }
  }

  const partWith = (ordinal: number, size: number): OrdinalRange => {
    const first = ordinal - (ordinal % size)
    return { first, last: Math.min(first + size, count()) - 1 }
  }

  const fetchPart = async (range: OrdinalRange, taken: OrdinalRange) => {
    const { first, last } = range
    // Spare rows, too, are made known only after this await: `load` is called while other rows are put into the page.
    const fetched = await (spareMessages.has(first) ? undefined : fetchRows(first, last + 1 - first))
    if (!loading.has(range)) return
    loaded(fetched ? keep(fetched.content, range, taken) : takeSpare(taken), taken)
  }

  const load: RowStore['load'] = async (ordinal, within) => {
    if (known.has(ordinal)) return
    const found = loadingOf(ordinal)
    if (found) {
      await found
      return spareMessages.has(ordinal) ? load(ordinal) : undefined
    }
    const part = within ?? partWith(ordinal, PART)
    const range = missingAround(ordinal, spareMessages.has(ordinal) ? part : (within ?? partWith(ordinal, CHUNK)))
    const taken = { first: Math.max(range.first, part.first), last: Math.min(range.last, part.last) }
    const done = fetchPart(range, taken).finally(() => loading.delete(range))
    loading.set(range, done)
    return done
  }

  const drop = (chunk: number) => {
    const first = chunk * CHUNK
    const own = Array.from({ length: CHUNK }, (_, i) => first + i)
    const isElsewhere = (row: HTMLElement) => chunkOf(ordinalOf(row)) !== chunk
    if (own.some((at) => blocks.get(at)?.isConnected || spare.get(at)?.flatMap(rowsOf).some(isElsewhere))) return
    for (const ordinal of own) for (const all of [blocks, rows, known, spare, spareMessages]) all.delete(ordinal)
  }

  const forget: RowStore['forget'] = (from) => {
    const here = new Set([...known, ...spareMessages].map(chunkOf))
    const far = [...here].sort((a, b) => Math.abs(b - chunkOf(from)) - Math.abs(a - chunkOf(from)))
    for (const chunk of far.slice(0, Math.max(0, here.size - MOST_CHUNKS))) drop(chunk)
  }

  return {
    block: (ordinal) => blocks.get(ordinal),
    row: (ordinal) => rows.get(ordinal),
    isKnown: (ordinal) => known.has(ordinal),
    isSpare: (ordinal) => spareMessages.has(ordinal),
    keep,
    take,
    replace,
    remove,
    load,
    dropSpare,
    clear: () => {
      for (const all of [blocks, rows, known, loading]) all.clear()
      dropSpare()
    },
    forget,
  }
}
