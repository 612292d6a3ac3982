type Attributes = Readonly<Record<string, string>>

/** An element with attributes and children. Texts stay texts. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const SVG = 'http://www.w3.org/2000/svg'

/** An element of a drawing, with attributes. */
export const drawing = (
  name: 'svg' | 'use' | 'rect',
  attributes: Readonly<Record<string, string | number>>,
): SVGElement => {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  return made
}

/** A drawing of the page's sprite. */
export const icon = (name: string): SVGElement => {
  const made = drawing('svg', { class: 'i', 'aria-hidden': 'true' })
  made.append(drawing('use', { href: `#i-${name}` }))
  return made
}

export const button = (label: string, drawing: string, run: () => void): HTMLButtonElement => {
  const made = element(
    'button',
    { class: 'btn bare', type: 'button', 'aria-label': label, title: label },
    icon(drawing),
  )
  made.addEventListener('click', run)
  return made
}

export const plural = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

/** The nearest element around a node, itself included, that a selector matches. */
export const closest = (node: EventTarget | null, selector: string): HTMLElement | null =>
  node instanceof Element ? node.closest<HTMLElement>(selector) : null
