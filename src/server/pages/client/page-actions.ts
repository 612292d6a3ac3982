import type { Action } from './actions.ts'
import { copyLink } from './copying.ts'
import { modifier } from './keys.ts'

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
  const scopes = [...document.querySelectorAll<HTMLAnchorElement>('main nav.seg:not([aria-label=Period]) a')].slice(
    0,
    3,
  )
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

/** The actions on the page of the members of a namespace, for its admins. */
export const memberActions = (): readonly Action[] => {
  const form = document.querySelector<HTMLElement>('#invite')
  if (!form) return []
  const run = () => {
    form.scrollIntoView({ block: 'start' })
    form.querySelector<HTMLElement>('input:checked')?.focus({ preventScroll: true })
  }
  return [{ keys: 'c', name: 'Make an invite', group: 'In a namespace', run }]
}

const to = (path: string) => () => location.assign(path)

/** The page above this one. */
const above = (): string => {
  const parts = location.pathname.split('/').filter((part) => part !== '' && part !== '-')
  return `/${parts.slice(0, -1).join('/')}`
}

const focusSearch = () => document.querySelector<HTMLInputElement>('.bar input[type=search]')?.select()

/** The actions on every page. */
export const siteActions = (showPalette: () => void, showKeys: () => void): readonly Action[] => {
  const action = (keys: string, name: string, run: () => void): Action => ({ keys, name, run, group: 'Everywhere' })
  const changes = document.querySelector<HTMLAnchorElement>('a[href$="/-/changes"]')
  const hasSearch = document.querySelector('.bar input[type=search]') !== null
  const isInSession = document.getElementById('messages') !== null
  return [
    action(`${modifier} K`, 'Go to or do', showPalette),
    ...(hasSearch && !isInSession ? [action('/', 'Search', focusSearch)] : []),
    { ...action('g h', 'Home: all sessions', to('/')), line: 'Home', href: '/' },
    ...(changes ? [action('g f', 'Changed files', () => changes.click())] : []),
    action('u', 'Up one level', () => location.pathname !== '/' && to(above())()),
    ...(isInSession ? [] : [action('y', 'Copy link', () => void copyLink(undefined))]),
    action('?', 'Keys of this page', showKeys),
  ]
}
