import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import * as assert from 'uvu/assert'

type Node = DefaultTreeAdapterTypes.ChildNode
export type Element = DefaultTreeAdapterTypes.Element

const isElement = (node: Node): node is Element => 'tagName' in node

/** All elements of a page, as a browser builds them. @throws for a page with comments, or one that a browser has to repair */
export const elementsOf = (source: string): Element[] => {
  const found: Element[] = []
  const visit = (nodes: readonly Node[]) => {
    for (const node of nodes) {
      assert.not.equal(node.nodeName, '#comment')
      if (!isElement(node)) continue
      found.push(node)
      visit(node.childNodes)
    }
  }
  const errors: string[] = []
  visit(parse(source, { onParseError: ({ code }) => void errors.push(code) }).childNodes)
  assert.equal(errors, [])
  return found
}

export const textOf = (node: Node): string => {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterTypes.TextNode).value
  return isElement(node) ? node.childNodes.map(textOf).join('') : ''
}
