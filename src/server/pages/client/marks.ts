import { placesIn } from './places.ts'

/** The occurrences of a text in a row, in any case and form of Unicode, also across elements. */
export const rangesIn = (row: HTMLElement, text: string): Range[] => {
  const inside = row.querySelector(':scope > .in')
  if (text === '' || !inside) return []
  const nodes: { readonly node: Text; readonly start: number }[] = []
  let whole = ''
  const walker = document.createTreeWalker(inside, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode as Text
    nodes.push({ node, start: whole.length })
    whole += node.data
  }
  let node = 0
  const pointAt = (offset: number): [Text, number] => {
    while (nodes[node + 1] && nodes[node + 1]!.start <= offset) node++
    while (nodes[node]!.start > offset) node-- // a letter whose accent stands in another element
    return [nodes[node]!.node, offset - nodes[node]!.start]
  }
  return placesIn(whole, text).map(([start, end]) => {
    const range = document.createRange()
    range.setStart(...pointAt(start))
    const [last, offset] = pointAt(end - 1)
    range.setEnd(last, offset + 1)
    return range
  })
}

/** The most occurrences that are marked in a page. */
const MOST_MARKED = 2_000

const mark = (name: string, ranges: readonly Range[], priority: number): void => {
  const { highlights } = CSS
  if (!highlights) return // an older browser marks nothing
  if (ranges.length === 0) return void highlights.delete(name)
  const made = new Highlight(...ranges)
  made.priority = priority
  highlights.set(name, made)
}

/** Marks all occurrences of a text; an empty text removes the marks. They are highlights: no element changes, except a class of the list. */
export const markAll = (messages: HTMLElement, text: string): void => {
  messages.classList.toggle('finding', text !== '')
  const ranges: Range[] = []
  for (const row of text === '' ? [] : messages.querySelectorAll<HTMLElement>('.msg[data-ordinal]')) {
    ranges.push(...rangesIn(row, text))
    if (ranges.length >= MOST_MARKED) break
  }
  mark('found', ranges.slice(0, MOST_MARKED), 0)
}

/** Marks the current occurrence; undefined removes the mark. */
export const markHere = (range: Range | undefined): void => mark('found-here', range ? [range] : [], 1)
