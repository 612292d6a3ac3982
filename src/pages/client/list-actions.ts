import type { Action } from './actions.ts'

/** The actions in a list of sessions or search results. `Enter` opens the focused link, as everywhere. */
export const listActions = (): readonly Action[] => {
  const names = () => [...document.querySelectorAll<HTMLAnchorElement>('.list a.name')]
  const go = (step: 1 | -1) => {
    const all = names()
    const at = all.indexOf(document.activeElement as HTMLAnchorElement)
    const next = at < 0 ? all.find((one) => one.getBoundingClientRect().bottom > 0) : all[at + step]
    next?.focus({ preventScroll: true })
    next?.closest('li')?.scrollIntoView({ block: 'nearest' })
  }
  const openBeside = () => {
    const link = document.activeElement
    if (link instanceof HTMLAnchorElement && link.matches('a.name')) open(link.href, '_blank', 'noopener')
  }
  const scopes = [...document.querySelectorAll<HTMLAnchorElement>('main nav.seg a')].slice(0, 3)
  return [
    { keys: 'j', name: 'Next session', line: 'Down, up', group: 'In lists', run: () => go(1) },
    { keys: 'k', name: 'Previous session', line: 'Down, up', group: 'In lists', run: () => go(-1) },
    { keys: 'o', name: 'Open in a new tab', group: 'In lists', run: openBeside },
    ...scopes.map((link, i): Action => ({
      keys: String(i + 1),
      name: link.textContent.trim(),
      line: scopes.map((one) => one.textContent.trim()).join(', '),
      group: 'In lists',
      run: () => link.click(),
    })),
  ]
}
