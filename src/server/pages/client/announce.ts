import { element } from './dom.ts'

const SHOWN_MS = 3_000

const region = element('p', { class: 'said', role: 'status' })
document.body.append(region)
let hiding: ReturnType<typeof setTimeout> | undefined

/** Says what has happened: to users of screen readers once nothing else is being read to them, and for a moment on the page. */
export const announce = (text: string): void => {
  // A screen reader says only a text that has changed.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text
  clearTimeout(hiding)
  hiding = setTimeout(() => (region.textContent = ''), SHOWN_MS)
}
