/** Called for each place of a text where a word stands, in the order in which they end. `word` is its number in the list. */
export type OnWord = (word: number, start: number) => void

/** Finds all words of a list in a text, whatever their case, in one pass (Aho and Corasick). */
export type FindWords = (text: string, onWord: OnWord) => void

type Node = { readonly next: Map<number, number>; readonly words: number[]; fallback: number }

const newNode = (): Node => ({ next: new Map(), words: [], fallback: 0 })

/** The class of each ASCII character: 0 for those that are in no word. Upper and lower case are the same. */
const classesOf = (words: readonly string[]) => {
  const classes = new Uint8Array(128)
  let count = 1
  for (const character of new Set(words.join('').toLowerCase()))
    classes[character.charCodeAt(0)] = classes[character.toUpperCase().charCodeAt(0)] = count++
  return { classes, count }
}

const trieOf = (words: readonly string[], classes: Uint8Array): readonly Node[] => {
  const nodes = [newNode()]
  for (const [index, word] of words.entries()) {
    let at = 0
    for (const character of word) {
      const key = classes[character.charCodeAt(0)]!
      const next = nodes[at]!.next.get(key) ?? nodes.push(newNode()) - 1
      nodes[at]!.next.set(key, next)
      at = next
    }
    nodes[at]!.words.push(index)
  }
  return nodes
}

/**
 * What follows each state and class: twice the offset of the next state's row, and 1 more where a word ends there. A state is a node
 * of the trie; breadth first, so that fallbacks are complete.
 */
const transitionsOf = (nodes: readonly Node[], count: number): Uint32Array => {
  const next = new Uint16Array(nodes.length * count)
  const queue = [0]
  for (const at of queue) {
    const { next: children, fallback } = nodes[at]!
    for (let key = 1; key < count; key++) {
      const child = children.get(key)
      const instead = at === 0 ? 0 : next[fallback * count + key]!
      next[at * count + key] = child ?? instead
      if (child === undefined) continue
      nodes[child]!.fallback = instead
      nodes[child]!.words.push(...nodes[instead]!.words)
      queue.push(child)
    }
  }
  return Uint32Array.from(next, (state) => 2 * state * count + (nodes[state]!.words.length > 0 ? 1 : 0))
}

/** `words` are of ASCII characters, fewer than 65,536 together. */
export const newFindWords = (words: readonly string[]): FindWords => {
  const { classes, count } = classesOf(words)
  const nodes = trieOf(words, classes)
  const transitions = transitionsOf(nodes, count)
  const lengths = words.map(({ length }) => length)
  return (text, onWord) => {
    let row = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      const step = code < 128 ? transitions[row + classes[code]!]! : 0
      row = step >>> 1
      if ((step & 1) === 0) continue
      for (const word of nodes[row / count]!.words) onWord(word, i + 1 - lengths[word]!)
    }
  }
}
