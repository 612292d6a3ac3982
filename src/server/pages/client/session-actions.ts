import type { Action } from './actions.ts'
import { announce } from './announce.ts'
import { copyCode, copyLink } from './copying.ts'
import { closest, plural } from './dom.ts'
import type { Reading } from './reading.ts'

/** A selector of all parts that are of the same kind as a part that opens and closes. */
const kindOf = (part: HTMLElement): string => {
  const kind = ['think', 'context', 'run', 'edit', 'tool'].find((one) => part.classList.contains(one))
  return kind === undefined ? 'details' : `details.${kind}`
}

/** Opens all parts of a kind, or closes them if all are open. The place of the reader stays where it is on the screen. */
const toggleAll = (messages: HTMLElement, selector: string, anchor: HTMLElement | undefined) => {
  const parts = [...messages.querySelectorAll<HTMLDetailsElement>(selector)]
  const isOpen = parts.some(({ open }) => !open)
  const before = anchor?.getBoundingClientRect().top ?? 0
  for (const part of parts) part.open = isOpen
  if (anchor) scrollBy(0, anchor.getBoundingClientRect().top - before)
  announce(`${plural(parts.length, 'part')} ${isOpen ? 'opened' : 'closed'}`)
}

/** The actions on the page of a session. */
export const sessionActions = (messages: HTMLElement, reading: Reading, toEnd: () => void): readonly Action[] => {
  const action = (keys: string, name: string, run: () => void, line = name): Action => ({
    keys,
    name,
    line,
    run,
    group: 'In a session',
  })
  const go = (keys: string, step: 1 | -1, selector?: string) => {
    const kinds: Readonly<Record<string, string>> = {
      '.msg.prompt': 'prompt',
      '.failed': 'failure',
      'details.edit': 'edit',
    }
    const kind = kinds[selector ?? ''] ?? 'message'
    return action(
      keys,
      `${step > 0 ? 'Next' : 'Previous'} ${kind}`,
      () => void reading.go(step, selector),
      `Next, previous ${kind}`,
    )
  }
  const part = (): HTMLDetailsElement | undefined => {
    const around = closest(document.activeElement, '#messages details') ?? reading.current()?.querySelector('details')
    return (around ?? undefined) as HTMLDetailsElement | undefined
  }
  const toggle = () => {
    const one = part()
    if (one) one.open = !one.open
  }
  const toggleKind = () => {
    const one = part()
    if (one) toggleAll(messages, kindOf(one), one.querySelector('summary') ?? one)
  }
  const nextView = () => {
    const views = [...document.querySelectorAll<HTMLAnchorElement>('.tabs .seg a')]
    const at = views.findIndex((view) => view.hasAttribute('aria-current'))
    views[(at + 1) % views.length]?.click()
  }
  return [
    go('j', 1),
    go('k', -1),
    go('J', 1, '.msg.prompt'),
    go('K', -1, '.msg.prompt'),
    go('n', 1, '.msg.prompt'),
    go('p', -1, '.msg.prompt'),
    go('e', 1, '.failed'),
    go('E', -1, '.failed'),
    go('d', 1, 'details.edit'),
    go('D', -1, 'details.edit'),
    action('x', 'Open or close', toggle),
    action('X', 'Open or close all of this kind', toggleKind),
    action('t', 'Open or close all thinking', () => toggleAll(messages, 'details.think', reading.current())),
    action('v', 'Full, talk, tools', nextView),
    action('G', 'To the end', toEnd),
    action('y', 'Copy link to this message', () => void copyLink(reading.current())),
    action('c', 'Copy the code with the focus', () => void copyCode()),
  ]
}
