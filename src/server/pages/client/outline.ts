import { closest, element } from './dom.ts'
import { linkOf, newPrompts, ordinalIn } from './prompts.ts'
import { ROW, ordinalOf } from './rows.ts'

const MOST_OF_PROMPT = 160

/** A place that the outline leads to. */
export type OutlinePlace = { readonly label: string; run(): void }

/** Of elements in the order of the page the last one that begins above a line, which is given in pixels from the top of the window. */
const lastAbove = (elements: readonly HTMLElement[], line: number): HTMLElement | undefined => {
  let [low, high] = [0, elements.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (elements[middle]!.getBoundingClientRect().top <= line) low = middle + 1
    else high = middle
  }
  return elements[low - 1]
}

/** The row that is being read: the last one that begins in the upper third of the window, or, at the end of the page, in the window. */
const rowInReading = (messages: HTMLElement): HTMLElement | undefined => {
  const isAtEnd = document.documentElement.scrollHeight - innerHeight - scrollY < 2
  const rows = messages.classList.contains('virtual') ? ROW : '.msg.prompt'
  const shown = [...messages.querySelectorAll<HTMLElement>(rows)].filter((row) => !row.closest('.run:not([open])'))
  return lastAbove(shown, isAtEnd ? innerHeight : innerHeight / 3)
}

/** Marks the prompt of the outline whose messages are being read, also among prompts that are added later. */
export const startOutline = (nav: HTMLElement, messages: HTMLElement, goTo: (ordinal: number) => Promise<void>) => {
  const prompts = newPrompts(nav, nav.querySelector('ol')!)
  const dock = document.querySelector('.dock [popovertarget=outline] b')
  let current: HTMLAnchorElement | undefined
  let isMarking = false

  const mark = () => {
    isMarking = false
    const row = rowInReading(messages)
    const all = prompts.all()
    const at = row ? all.findLastIndex((one) => ordinalIn(linkOf(one)) <= ordinalOf(row)) : 0
    const prompt = all[Math.max(0, at)]
    const link = prompt && linkOf(prompt)
    if (!link || link === current) return
    current?.removeAttribute('aria-current')
    current = link
    link.setAttribute('aria-current', 'true')
    if (dock) dock.textContent = `Prompt ${Math.max(0, at) + 1} of ${all.length}`
    prompts.show(prompt)
  }
  const markSoon = () => {
    if (isMarking) return
    isMarking = true
    requestAnimationFrame(mark)
  }

  const add = (prompt: HTMLElement) => {
    const words = prompt.querySelector('.prose')?.textContent.trim().slice(0, MOST_OF_PROMPT) ?? ''
    const link = element(
      'a',
      { href: `#${prompt.id}`, 'data-ordinal': String(ordinalOf(prompt)) },
      element('span', { class: 'no' }, prompt.dataset['no'] ?? ''),
      element('span', { class: 'q', dir: 'auto' }, words),
    )
    const goOn = prompt.querySelector('.go-on')?.cloneNode(true)
    prompts.add(element('li', {}, link, ...(goOn ? [goOn as HTMLElement] : [])))
  }

  /** Adds the prompts that are new. */
  const grow = (messages: HTMLElement) => {
    const last = prompts.all().at(-1)
    for (const prompt of messages.querySelectorAll<HTMLElement>('.msg.prompt'))
      if (!last || ordinalOf(prompt) > ordinalIn(linkOf(last))) add(prompt)
    markSoon()
  }

  const follow = (link: HTMLAnchorElement) => {
    history.pushState(history.state, '', link.href)
    void goTo(ordinalIn(link))
  }

  // On narrow screens the outline is a sheet over the place that a link leads to, so it is closed.
  nav.addEventListener('click', (event) => {
    const link = closest(event.target, 'a[data-ordinal]') as HTMLAnchorElement | null
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    if (nav.matches(':popover-open')) nav.hidePopover()
    follow(link)
  })
  addEventListener('scroll', markSoon, { passive: true })
  markSoon()
  const places = () =>
    prompts.all().map((one) => ({ label: one.querySelector('.q')!.textContent.trim(), run: () => follow(linkOf(one)) }))
  return { grow, places }
}
